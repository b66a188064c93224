import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createWorld, type Running, type TestWorld } from "../support/world.ts";

/** The first line that a running `serve` prints. */
async function firstLine(running: Running, stream: "stdout" | "stderr"): Promise<string> {
  while (!running[stream].includes("\n")) await new Promise((resolve) => setImmediate(resolve));
  return running[stream].split("\n")[0]!;
}

test("with --json the first line says where it is and by which key; then nothing more on stdout", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --demo 3 --json");
  const line = await firstLine(running, "stdout");
  const served = JSON.parse(line);
  expect(served).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    api_key: "ak_mock",
  });
  const env = { CAT_BASE_URL: served.base_url, CAT_API_KEY: served.api_key };
  const listed = await world.cat("products list --json", { env });
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
  running.interrupt();
  expect(await running).toEqual({ exit: 130, stdout: `${line}\n`, stderr: "" });
});

test("for people it says on stderr how to use it", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0");
  await firstLine(running, "stderr");
  running.interrupt("SIGTERM");
  const ran = await running;
  expect(ran).toMatchObject({ exit: 143, stdout: "" });
  const [, url] = /runs at (http:\S+) with the key ak_mock/.exec(ran.stderr)!;
  expect(ran.stderr).toContain(`export CAT_BASE_URL=${url} CAT_API_KEY=ak_mock\n`);
  expect(ran.stderr).toContain(`curl -H "Authorization: Bearer ak_mock" ${url}/v1/products\n`);
});

test("the service ends with the command", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --json");
  const { base_url } = JSON.parse(await firstLine(running, "stdout"));
  running.interrupt();
  await running;
  await expect(fetch(`${base_url}/v1/products`)).rejects.toThrow("fetch failed");
});

test("the same seed gives the same service", async () => {
  const world = await createWorld();
  const listOf = async (seed: number) => {
    const running = world.cat(`serve --mock --port 0 --demo 5 --json --seed ${seed}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const { stdout } = await world.cat("products list --json", { env: { CAT_BASE_URL: base_url } });
    running.interrupt();
    await running;
    return stdout;
  };
  expect(await listOf(7)).toBe(await listOf(7));
  expect(await listOf(8)).not.toBe(await listOf(7));
});

describe("limits", () => {
  const statuses = async (flags: string, count: number) => {
    const world = await createWorld();
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const headers = { authorization: "Bearer ak_mock" };
    const answers = [];
    for (let n = 0; n < count; n++) answers.push(await fetch(`${base_url}/v1/products`, { headers }));
    running.interrupt();
    await running;
    return answers.map((answer) => answer.status);
  };

  test("--rate-limit sets them", async () => {
    expect(await statuses("--rate-limit 2,1", 3)).toEqual([200, 200, 429]);
  });

  test("--no-rate-limit takes them away", async () => {
    expect(new Set(await statuses("--no-rate-limit", 620))).toEqual(new Set([200]));
  });
});

test.for([
  ["without --mock", "serve", "serve needs --mock"],
  ["a port that is none", "serve --mock --port 65536", "It must be a whole number from 0 to 65535"],
  ["a port in words", "serve --mock --port http", "It must be a whole number from 0 to 65535"],
  ["a speed of nothing", "serve --mock --speed 0", "It must be a number above 0"],
  ["one limit", "serve --mock --rate-limit 5", "It must be two whole numbers above 0"],
  ["a limit of nothing", "serve --mock --rate-limit 5,0", "It must be two whole numbers above 0"],
  ["a latency below nothing", "serve --mock --latency=-1", "It must be a whole number from 0 to 600000"],
  ["a fraction of a product", "serve --mock --demo 1.5", "It must be a whole number from 0 to 1000000"],
  [
    "more products than a million",
    "serve --mock --demo 1000001",
    "It must be a whole number from 0 to 1000000",
  ],
  ["a command without --", "serve --mock npm test", "too many arguments for 'serve'"],
  ["no command after --", "serve --mock --", "there is no command after --"],
  ["an empty command", "serve --mock -- ''", "there is no command after --"],
  ["a host of no name", "serve --mock --host ''", "It must be an address or a name"],
  ["a save file of no name", "serve --mock --save ''", "--save is empty"],
  ["a load file of no name", "serve --mock --load ''", "--load is empty"],
  ["a save file in no folder", "serve --mock --save no/where.json", "is in a folder that does not exist"],
  ["a save file that is a folder", "serve --mock --save .", "is a folder"],
  [
    "another machine's address",
    "serve --mock --port 0 --host 192.0.2.1",
    "is not an address of this machine",
  ],
] as const)("refused: %s", async ([, line, why]) => {
  const world = await createWorld();
  const ran = await world.cat(line);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toContain(why);
  expect(ran.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
});

test.each(["--rate-limit 5,5 --no-rate-limit", "--no-rate-limit --rate-limit 5,5"])(
  "exits with 2 for a limit and none: %s",
  async (flags) => {
    const world = await createWorld();
    expect(await world.cat(`serve --mock --port 0 ${flags}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --rate-limit cannot be used with --no-rate-limit\nRemove one of them.\n",
    });
  },
);

test("a port in use: a sentence and what to do", async () => {
  const world = await createWorld();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const ran = await world.cat(`serve --mock --port ${port}`);
  other.close();
  expect(ran).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: port ${port} on 127.0.0.1 is in use\nChoose another with --port, or --port 0 for a free one.\n`,
  });
});

test("who listens to other machines is warned", async () => {
  const world = await createWorld();
  const warning = "warning: 0.0.0.0 is reached from other machines too; anybody there can use this service\n";
  for (const [flags, isWarned] of [
    ["--host 0.0.0.0", true],
    ["--host 0.0.0.0 --json", true],
    ["--host 0.0.0.0 --quiet --json", false],
    ["--host localhost", false],
    ["--host ::1 --json", false],
    ["--json", false],
  ] as const) {
    const running = world.cat(`serve --mock --port 0 ${flags}`);
    await firstLine(running, flags.includes("--json") ? "stdout" : "stderr");
    running.interrupt();
    expect((await running).stderr.startsWith(warning)).toBe(isWarned);
  }
});

describe("the state in a file", () => {
  const headers = { authorization: "Bearer ak_mock" };
  /** Serves with these flags, does something to the service, and ends it. */
  async function serve(
    world: TestWorld,
    flags: string,
    use: (baseUrl: string) => Promise<void> = async () => {},
    signal: "SIGINT" | "SIGTERM" = "SIGINT",
  ) {
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    await use(base_url);
    running.interrupt(signal);
    return { baseUrl: base_url as string, ...(await running) };
  }
  const namesOf = async (baseUrl: string) => {
    const { data } = (await (await fetch(`${baseUrl}/v1/products`, { headers })).json()) as {
      data: { id: string; name: string }[];
    };
    return data.map(({ id, name }) => ({ id, name }));
  };

  test("is saved at the end and goes on from there, ids and all", async () => {
    const world = await createWorld();
    let before: unknown;
    const saved = await serve(world, "--seed 3 --demo 4 --save shop.json", async (baseUrl) => {
      const [first] = await namesOf(baseUrl);
      await fetch(`${baseUrl}/v1/products/${first!.id}`, { method: "DELETE", headers });
      before = await namesOf(baseUrl);
    });
    expect(saved).toMatchObject({ exit: 130, stderr: "" });
    const text = world.read("shop.json");
    expect(text.endsWith("\n}\n")).toBe(true);
    // A line for each thing, for people and for version control.
    expect(text.split("\n").filter((line) => line.startsWith('{"order":'))).toHaveLength(4);
    expect(JSON.parse(text)).toMatchObject({ version: 1, organizations: { main: { credits: null } } });
    expect(statSync(join(world.folder, "shop.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);

    await serve(world, "--load shop.json", async (baseUrl) => {
      expect(await namesOf(baseUrl)).toEqual(before);
      // A reset comes back to it.
      const [first] = await namesOf(baseUrl);
      await fetch(`${baseUrl}/v1/products/${first!.id}`, { method: "DELETE", headers });
      expect((await fetch(`${baseUrl}/_mock/reset`, { method: "POST" })).status).toBe(200);
      expect(await namesOf(baseUrl)).toEqual(before);
    });
    // Without --save nothing is written.
    expect(world.read("shop.json")).toBe(text);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("is saved on %s", async (signal) => {
    const world = await createWorld();
    const { exit } = await serve(world, "--demo 2 --save shop.json", undefined, signal);
    expect(exit).toBe(signal === "SIGTERM" ? 143 : 130);
    expect(JSON.parse(world.read("shop.json")).organizations.main.products).toHaveLength(2);
  });

  test("one file for both: the first run makes it, with demo products only then", async () => {
    const world = await createWorld();
    const flags = "--load shop.json --save shop.json --demo 2";
    const names: unknown[] = [];
    for (let run = 0; run < 3; run++) {
      await serve(world, flags, async (baseUrl) => {
        names.push(await namesOf(baseUrl));
      });
    }
    expect(names[0]).toHaveLength(2);
    expect(names[1]).toEqual(names[0]);
    expect(names[2]).toEqual(names[0]);
  });

  test("a link is followed, and stays one", async () => {
    const world = await createWorld();
    mkdirSync(join(world.folder, "far"));
    symlinkSync("far/shop.json", join(world.folder, "shop.json"));
    await serve(world, "--load shop.json --save shop.json --demo 1");
    expect(JSON.parse(world.read("far/shop.json")).version).toBe(1);
    expect(readdirSync(world.folder).sort()).toEqual(["far", "shop.json"]);
    expect(readdirSync(join(world.folder, "far"))).toEqual(["shop.json"]);
  });

  test("that cannot be saved in the end is told, exit 2, and what was there stays", async () => {
    const world = await createWorld();
    world.write("shop.json", "what was there");
    const running = world.cat("serve --mock --port 0 --json --save shop.json");
    await firstLine(running, "stdout");
    rmSync(join(world.folder, "shop.json"));
    mkdirSync(join(world.folder, "shop.json"));
    running.interrupt();
    const ran = await running;
    expect(ran.exit).toBe(2);
    expect(JSON.parse(ran.stderr).error).toEqual({
      type: "output",
      code: "file_not_writable",
      message: `cannot write ${join(world.folder, "shop.json")}: it is a folder. Choose another file.`,
      exit: 2,
    });
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);
  });

  /** Has files reach the disk only when it is told to; resolves when the first is on its way. */
  async function holdSyncs() {
    const probe = await open(".", "r");
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    let release!: () => void;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let spy!: { mockRestore(): void };
    const reached = new Promise<void>((resolve) => {
      spy = vi.spyOn(handles, "sync").mockImplementation(() => {
        resolve();
        return released;
      });
    });
    onTestFinished(() => spy.mockRestore());
    return { reached, release };
  }

  test.each([
    ["", "interrupted before the state was saved in shop.json\n"],
    [
      "--json",
      '{"error":{"type":"interrupted","code":"SIGTERM","message":"interrupted before the state was saved in shop.json","exit":143}}\n',
    ],
  ])("a second interrupt stops a save: nothing is left of it, and it is told (%s)", async (flags, told) => {
    const world = await createWorld();
    world.write("shop.json", "what was there");
    const { reached, release } = await holdSyncs();
    const running = world.cat(`serve --mock --port 0 --save shop.json ${flags}`);
    await firstLine(running, flags === "" ? "stderr" : "stdout");
    const greeting = running.stderr;
    running.interrupt();
    await reached;
    expect(readdirSync(world.folder)).toEqual([
      expect.stringMatching(/^\.state-4711-\w+\.part$/),
      "shop.json",
    ]);
    running.interrupt("SIGTERM");
    expect(running.stderr.slice(greeting.length)).toBe(told);
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);
    expect(world.read("shop.json")).toBe("what was there");
    release();
    await running;
  });

  test("a second interrupt after the save has nothing to tell, nor has one without --save", async () => {
    for (const [flags, place] of [
      ["--save shop.json", "shop.json"],
      ["", null],
    ] as const) {
      const world = await createWorld();
      const running = world.cat(`serve --mock --port 0 --json ${flags}`);
      await firstLine(running, "stdout");
      running.interrupt();
      while (place !== null && !readdirSync(world.folder).includes(place)) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      running.interrupt();
      expect(await running).toMatchObject({ exit: 130, stderr: "" });
      expect(readdirSync(world.folder)).toEqual(place === null ? [] : [place]);
    }
  });

  test("what a save that was killed has left beside the file is removed by the next, and nothing else", async () => {
    const world = await createWorld();
    const leftovers = [".state-99-a1.part", ".state-4711-zzz.part"];
    const others = [
      ".state-1-a1.part",
      ".state-99-a1.part.txt",
      ".state-99.part",
      ".state--1-a1.part",
      "state-99-a1.part",
      ".import-99-a1.part",
    ];
    const old = (world.clock.now() - 60_000) / 1000;
    for (const name of [...leftovers, ...others]) {
      utimesSync(world.write(`far/${name}`, "a state"), old, old);
    }
    mkdirSync(join(world.folder, "far/.state-99-folder.part"));
    // Whoever writes it may be in another container, where numbers of processes are others.
    const young = (world.clock.now() - 59_000) / 1000;
    utimesSync(world.write("far/.state-98-a1.part", "a state"), young, young);
    symlinkSync("far/shop.json", join(world.folder, "shop.json"));
    expect((await serve(world, "--save shop.json")).stderr).toBe("");
    expect(readdirSync(join(world.folder, "far")).sort()).toEqual(
      [...others, ".state-98-a1.part", ".state-99-folder.part", "shop.json"].sort(),
    );
  });

  const foreign = "shop.json is not a state of this service: ";
  test.for([
    ["is not there", null, "shop.json is not there"],
    ["is empty", "", "shop.json:1 is not JSON: it ends too early"],
    ["was cut", '{\n"version": 1,\n"now": "2026', "shop.json:3 is not JSON: Unterminated string"],
    ["was cut between two things", '{\n"version": 1,\n', "shop.json:2 is not JSON: "],
    ["has a slip in it", '{\n"version": 1,\n"now": oops\n}\n', "shop.json:3 is not JSON: Unexpected token"],
    ["is a table", "reference,name\nA,B\n", "shop.json:1 is not JSON: Unexpected token"],
    ["is of another program", '{"a":1}', `${foreign}version: `],
    ["is a list", "[]", `${foreign}the state must be an object`],
    ["is of another version", '{"version":2}', `${foreign}version: `],
    ["has a secret of nothing", { secret: "" }, `${foreign}secret: `],
    ["has a field nobody knows", { more: 1 }, `${foreign}more is not a field of this`],
  ] as const)("a file that %s is refused", async ([, content, why]) => {
    const world = await createWorld();
    if (typeof content === "string") world.write("shop.json", content);
    else if (content !== null) {
      world.write("shop.json", JSON.stringify({ ...world.mock.state(), ...content }));
    }
    const ran = await world.cat("serve --mock --port 0 --load shop.json");
    expect(ran).toMatchObject({ exit: content === null ? 2 : 3, stdout: "" });
    expect(ran.stderr).toContain(`error: ${why}`);
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(2);
    // Nor is it overwritten.
    const both = await world.cat("serve --mock --port 0 --load shop.json --save other.json");
    expect(both.exit).toBe(content === null ? 2 : 3);
    expect(readdirSync(world.folder)).toEqual(content === null ? [] : ["shop.json"]);
  });
});
