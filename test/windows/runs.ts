import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { csv } from "./paths.ts";
import { startService, type WindowsService } from "./service.ts";
import { node, program, type Windows } from "./wine.ts";

/** So that a run is stopped in the middle. */
const batches = ["--batch", "50"];

/** Runs that are stopped or meet each other, and other programs. */
export function runsOnWindows(windows: () => Windows): void {
  const write = (name: string, text: string) => writeFileSync(join(windows().shop, name), text);
  const rows = (start: string, count: number) =>
    csv(
      "reference,name,image_front",
      ...Array.from(
        { length: count },
        (_, at) => `${start}-${at},Dress,https://cdn.example.com/${start}${at}.jpg`,
      ),
    );
  /** A slow service, with the number of requests that it had for imports. */
  const slowService = async () => {
    const service = await startService(windows(), "--speed", "2");
    onTestFinished(() => service.running.kill());
    return service;
  };
  const sent = async ({ env }: WindowsService) => {
    const response = await fetch(`${env.CAT_BASE_URL}/_mock/requests`);
    const requests = (await response.json()) as { method: string; path: string }[];
    return requests.filter(({ method, path }) => method === "POST" && /^\/v1\/imports(?:\?|$)/.test(path))
      .length;
  };

  describe("a run", () => {
    test("that the task manager ends is resumed: every row once", async () => {
      const service = await slowService();
      write("killed.csv", rows("KILLED", 450));
      const first = windows().start(["import", "killed.csv", ...batches], service);
      await until(async () => (await sent(service)) >= 2, { pauseMs: 20, seen: first.output });
      first.kill();
      await first.ended;
      const { exit, stderr } = await windows().cat(["import", "killed.csv", ...batches], service);
      expect(stderr).toMatch(/^Resuming the import of killed\.csv started at .*/);
      expect([exit, stderr]).toEqual([0, expect.stringContaining("Imported 450 rows from killed.csv")]);
      expect(new Set(await service.references("KILLED-")).size).toBe(450);
      expect(await service.references("KILLED-")).toHaveLength(450);
    });

    test("of a mirror that the task manager ends is resumed by the next", async () => {
      const { env, running } = await startService(windows(), "--demo", "30", "--latency", "30");
      onTestFinished(() => running.kill());
      const mirror = join(windows().shop, "stopped-mirror");
      const images = () =>
        existsSync(mirror) ? readdirSync(mirror).filter((name) => /\.(?:jpg|png|webp)$/.test(name)) : [];
      const first = windows().start(["export", "sync", "stopped-mirror"], { env });
      await until(() => images().length >= 3, { pauseMs: 5, seen: first.output });
      first.kill();
      await first.ended;
      const atKill = images().length;
      expect(await windows().cat(["export", "sync", "stopped-mirror"], { env })).toMatchObject({ exit: 0 });
      expect(images().length).toBeGreaterThan(atKill);
      const { stderr } = await windows().cat(["export", "sync", "stopped-mirror", "--verify"], { env });
      expect(stderr).toMatch(new RegExp(`: ${images().length} unchanged`));
    });

    test("that Ctrl-C stops exits with 130 and is resumed", async () => {
      const service = await slowService();
      write("stopped.csv", rows("STOPPED", 450));
      rmSync(join(windows().shop, "go"), { force: true });
      const command = `${node} "${program}\\catalogue.js" import stopped.csv --batch 50`;
      const files = ["go", "out.txt", "err.txt"];
      const stopping = windows().run([String.raw`C:\npm\interrupt.exe`, command, ...files], service);
      await until(async () => (await sent(service)) >= 1, { pauseMs: 20 });
      write("go", "");
      const { exit } = await stopping;
      const stderr = readFileSync(join(windows().shop, "err.txt"), "utf8");
      expect([exit, stderr]).toEqual([
        130,
        expect.stringContaining("catalogue import stopped.csv --batch 50\ninterrupted\n"),
      ]);
      expect(await windows().cat(["import", "stopped.csv", ...batches], service)).toMatchObject({ exit: 0 });
      expect(await service.references("STOPPED-")).toHaveLength(450);
    });

    test("keeps others from its file, and from nothing else of the state", async () => {
      const service = await slowService();
      write("twice.csv", rows("TWICE", 450));
      const first = windows().start(["import", "twice.csv", ...batches], service);
      await until(async () => (await sent(service)) >= 1, { pauseMs: 20, seen: first.output });
      const second = await windows().cat(["import", "twice.csv", ...batches], service);
      expect([second.exit, second.stderr]).toEqual([
        6,
        expect.stringMatching(
          /^error: process \d+ has been working on twice\.csv since .*\nWait for it to finish/,
        ),
      ]);
      write("beside.csv", rows("BESIDE", 3));
      const others = [
        ["import", "beside.csv"],
        ["runs", "list"],
        ["config", "set", "label", "x", "--profile", "q"],
      ];
      for (const args of others) {
        const { exit } = await windows().cat(args, service);
        expect([args, exit]).toEqual([args, args[0] === "import" ? expect.any(Number) : 0]);
      }
      expect(await first.ended).toMatchObject({ exit: 0 });
      expect(await service.references("TWICE-")).toHaveLength(450);
    });
  });

  test("settings that several processes write at once are all kept", async () => {
    const names = Array.from({ length: 4 }, (_, at) => `p${at}`);
    const env = { CAT_HOME: String.raw`C:\shop\writers` };
    const writes = names.map((name) =>
      windows().cat(["config", "set", "label", name, "--profile", name], { env }),
    );
    expect((await Promise.all(writes)).map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
    const { profiles } = JSON.parse(readFileSync(join(windows().shop, "writers/config.json"), "utf8"));
    expect(Object.keys(profiles).sort()).toEqual(names);
  });

  test.for([
    ["catalogue", ["--", "catalogue", "products", "get", "A & B", "--json"], 5],
    ["catalogue.cmd", ["--", "catalogue.cmd", "products", "list", "--json"], 0],
    ["node.exe", ["--", "node", "-e", "process.exit(7)"], 7],
    ["cmd", ["--", "cmd", "/c", "exit 3"], 3],
  ] as const)("serve runs a command with the mock, also a batch file: %s", async ([, command, exit]) => {
    expect(await windows().cat(["serve", "--mock", "--demo", "1", ...command])).toMatchObject({ exit });
  });

  describe("cat", () => {
    const notes = () => write("notes.txt", "hello\n");
    const git = { env: { WINEPATH: String.raw`C:\npm;C:\git` } };

    test("hands over to a cat of the system, such as that of Git", async () => {
      notes();
      expect(await windows().batch(["cat notes.txt"], git)).toEqual({
        exit: 0,
        stdout: "hello\n",
        stderr: "",
      });
      const piped = await windows().batch(["cat"], { ...git, input: "notes.txt" });
      expect(piped).toEqual({ exit: 0, stdout: "hello\n", stderr: "" });
      const failed = await windows().batch(["cat nothing.txt"], git);
      expect(failed).toEqual({
        exit: 1,
        stdout: "",
        stderr: "cat: nothing.txt: No such file or directory\n",
      });
      expect((await windows().batch(["cat --version"], git)).stdout).toMatch(/^catalogue \d/);
    });

    test("says what to type where the system has none", async () => {
      notes();
      const stderr = [
        "cat: cannot find the system's cat on PATH",
        "To print a file: type FILE. For the commands of this program: catalogue --help",
        "",
      ].join("\n");
      expect(await windows().batch(["cat notes.txt"])).toEqual({ exit: 127, stdout: "", stderr });
      expect(await windows().batch(["type notes.txt"])).toMatchObject({ exit: 0, stdout: "hello\n" });
    });
  });

  test.for(["mjs", "cjs"])("client and mock start from code in .%s", async (ending) => {
    const load =
      ending === "mjs"
        ? [
            'import { startMock } from "@catalogue-imaging/catalogue/mock";',
            'import { createClient } from "@catalogue-imaging/catalogue";',
          ]
        : [
            'const { startMock } = require("@catalogue-imaging/catalogue/mock");',
            'const { createClient } = require("@catalogue-imaging/catalogue");',
          ];
    const lines = [
      ...load,
      "(async () => {",
      "  const mock = await startMock({ demo: 3 });",
      "  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });",
      "  const { data } = await client.products.list({ limit: 2 });",
      "  await client.close();",
      "  await mock.stop();",
      "  console.log(data.length);",
      "})();",
    ];
    const script = windows().script(`code.${ending}`, lines.join("\r\n"));
    const ran = await windows().run([node, script]);
    expect(ran).toEqual({ exit: 0, stdout: "2\n", stderr: "" });
  });
}
