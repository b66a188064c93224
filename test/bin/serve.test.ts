import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, onTestFinished } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

beforeEach(needsBuild);

const node = process.execPath;
/** A program of a few lines, to run as COMMAND. */
const script = (code: string): string[] => [node, "--input-type=module", "-e", code];
const readsProducts = `
  const { CAT_BASE_URL: url, CAT_API_KEY: key } = process.env;
  const response = await fetch(url + "/v1/products", { headers: { authorization: "Bearer " + key } });
  console.log(response.status, (await response.json()).data.length, key);
`;

describe("serve -- COMMAND", () => {
  longTest("connects the streams of the command and exits with its status", async () => {
    const ran = await spawnCat(
      [
        ...["serve", "--mock", "--demo", "3", "--"],
        ...script(
          `${readsProducts} console.error("note"); process.stdin.pipe(process.stdout); process.exitCode = 7;`,
        ),
      ],
      { input: "piped input\n" },
    );
    expect({ exit: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      exit: 7,
      stdout: "200 3 ak_mock\npiped input\n",
      stderr: "note\n",
    });
  });

  longTest("adds the URL and the API key to the environment, replacing other values", async () => {
    const env = { CAT_BASE_URL: "https://service.example.com", CAT_API_KEY: "ak_real", MARK: "kept" };
    // All flags after -- are those of the command, even another --.
    const flags = ["--json", "--port", "http", "--mock", "--help", "-h", "--version", "--", "--save", "x"];
    const code = `const { MARK, CAT_BASE_URL, CAT_API_KEY } = process.env;
      console.log(MARK, CAT_BASE_URL, CAT_API_KEY, JSON.stringify(process.argv.slice(1)))`;
    const ran = await spawnCat(["serve", "--mock", "--port", "0", "--", node, "-e", code, "--", ...flags], {
      env,
    });
    expect(ran.stdout).toMatch(/^kept http:\/\/127\.0\.0\.1:\d+ ak_mock \[/);
    expect(JSON.parse(/\[.*/.exec(ran.stdout)![0])).toEqual(flags);
    expect(ran.exitCode).toBe(0);
  });

  longTest("runs this program as the command, even as another server at the same time", async () => {
    const list = [node, catProgram, "products", "list", "--json"];
    const inner = [node, catProgram, "serve", "--mock", "--demo", "2", "--", ...list];
    const ran = await spawnCat(["serve", "--mock", "--json", "--", ...inner]);
    const lines = ran.stdout.trimEnd().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(["id", "id"]);
    // The first line of --json is on stderr, because stdout belongs to the command.
    expect(JSON.parse(ran.stderr)).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: "ak_mock",
    });
  });

  longTest.each([
    ["ended by a signal", script("process.kill(process.pid, 'SIGKILL')"), 137, ""],
    ["that does not exist", ["no-such-program"], 127, 'error: command not found: "no-such-program"\n'],
  ])("reports the exit status of a command %s", async (_name, command, exit, message) => {
    const ran = await spawnCat(["serve", "--mock", "--", ...command]);
    expect([ran.exitCode, ran.stdout]).toEqual([exit, ""]);
    expect(ran.stderr.startsWith(message)).toBe(true);
    expect(ran.stderr.split("\n").length).toBeLessThanOrEqual(3);
  });

  longTest("exits with 126 for a file that is not a program", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "notes.txt");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const ran = await spawnCat(["serve", "--mock", "--json", "--", file]);
    expect(ran.exitCode).toBe(126);
    expect(JSON.parse(ran.stderr.split("\n")[1]!).error).toMatchObject({
      type: "command",
      code: "command_not_startable",
      exit: 126,
    });
  });

  longTest("stops the mock and saves the state when the command has ended", async () => {
    const cwd = temporaryFolder();
    const code = `${readsProducts} const { writeFileSync } = await import("node:fs");
      writeFileSync("url", url); process.exitCode = 3;`;
    const ran = await spawnCat(
      ["serve", "--mock", "--demo", "2", "--save", "shop.json", "--", ...script(code)],
      { cwd },
    );
    expect([ran.exitCode, ran.stdout]).toEqual([3, "200 2 ak_mock\n"]);
    expect(JSON.parse(readFileSync(join(cwd, "shop.json"), "utf8")).organizations.main.products).toHaveLength(
      2,
    );
    expect(readdirSync(cwd).sort()).toEqual(["shop.json", "url"]);
    await expect(fetch(readFileSync(join(cwd, "url"), "utf8"))).rejects.toThrow("fetch failed");
  });

  /** A command that prints when it is ready and each signal it gets, and exits at two of them. */
  const counts = script(`
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"]) {
      process.on(signal, () => {
        console.log(signal);
        if (signal === "SIGHUP") process.exit(4);
        if (signal === "SIGTERM") process.exit(5);
      });
    }
    setInterval(() => {}, 1000);
    console.log("ready");
  `);

  const signalsAndExits = [
    [["SIGINT", "SIGUSR2", "SIGUSR2", "SIGHUP"], 4],
    [["SIGUSR2", "SIGTERM"], 5],
  ] as const;
  longTest.each(signalsAndExits)(
    "passes signals on to the command, which decides when to exit: %s",
    async (signals, exit) => {
      const cwd = temporaryFolder();
      const running = start(["serve", "--mock", "--save", "shop.json", "--", ...counts], cwd);
      await running.lines(1);
      for (const [at, signal] of signals.entries()) {
        running.child.kill(signal);
        await running.lines(2 + at);
      }
      expect(await running.exit).toBe(exit);
      expect(running.stdout()).toBe(`ready\n${signals.join("\n")}\n`);
      expect(existsSync(join(cwd, "shop.json"))).toBe(true);
    },
  );

  longTest("exits with 128 plus the signal number if the signal ends the command", async () => {
    const running = start([
      "serve",
      "--mock",
      "--",
      ...script("setInterval(() => {}, 1000); console.log('ready')"),
    ]);
    await running.lines(1);
    running.child.kill("SIGTERM");
    expect(await running.exit).toBe(143);
  });

  const hasScript = existsSync("/usr/bin/script");
  longTest.skipIf(!hasScript)("sends Ctrl-C at a terminal to the command once", async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, "count.mjs");
    writeFileSync(
      file,
      `let got = 0;
       process.on("SIGINT", () => { got++; if (got === 1) setTimeout(() => { console.log("got " + got); process.exit(6); }, 300); });
       setInterval(() => {}, 1000);
       console.log("ready");`,
    );
    const line = `${catProgram} serve --mock -- ${node} ${file}; echo "exit $?"`;
    const child = execa("script", ["-qec", `trap : INT; ${line}`, "/dev/null"], {
      reject: false,
      stdin: "pipe",
      env: { SHELL: "/bin/bash" },
    });
    let stdout = "";
    child.stdout!.on("data", (bytes: Buffer) => {
      stdout += bytes.toString();
    });
    await until(() => stdout.includes("ready"), { pauseMs: 2, seen: () => stdout });
    child.stdin!.write("\x03");
    await child;
    expect(stdout.replaceAll("\r", "")).toContain("got 1\nexit 6\n");
  });
});

const endings = [
  ["SIGINT", 130, 2_000],
  ["SIGTERM", 143, 2],
] as const;
longTest.each(endings)(
  "%s saves the complete state, and only the first line is on stdout",
  async (signal, exit, demo) => {
    const cwd = temporaryFolder();
    const running = start(
      ["serve", "--mock", "--port", "0", "--json", "--demo", String(demo), "--save", "shop.json"],
      cwd,
    );
    await running.lines(1);
    running.child.kill(signal);
    expect(await running.exit).toBe(exit);
    expect(Object.keys(JSON.parse(running.stdout()))).toEqual(["base_url", "api_key"]);
    const state = JSON.parse(readFileSync(join(cwd, "shop.json"), "utf8"));
    expect(state.organizations.main.products).toHaveLength(demo);
    expect(readdirSync(cwd)).toEqual(["shop.json"]);
  },
);

longTest(
  "two signals at once are one request: the state is saved completely, and the first one tells the status",
  async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "shop.json"), "what was there");
    const args = [
      "serve",
      "--mock",
      "--port",
      "0",
      "--json",
      "--demo",
      "20000",
      "--save",
      "shop.json",
      "--yes",
    ];
    const running = start(args, cwd, "pipe");
    await running.lines(1);
    const { base_url } = JSON.parse(running.stdout());
    running.child.kill("SIGTERM");
    // The mock stops first; the state is not written yet.
    await until(
      () =>
        fetch(base_url).then(
          () => false,
          () => true,
        ),
      { pauseMs: 1 },
    );
    running.child.kill("SIGINT");
    expect(await running.exit).toBe(143);
    expect(running.stderr()).toBe("");
    const state = JSON.parse(readFileSync(join(cwd, "shop.json"), "utf8"));
    expect(state.organizations.main.products).toHaveLength(20_000);
    expect(readdirSync(cwd)).toEqual(["shop.json"]);
  },
);

/** Starts the program, and ends it after the test. */
function start(args: readonly string[], cwd = temporaryFolder(), errors: "inherit" | "pipe" = "inherit") {
  const child: ChildProcess = spawn(node, [catProgram, ...args], {
    cwd,
    stdio: ["ignore", "pipe", errors],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  child.stdout!.on("data", (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  let stderr = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    /** Waits until this many lines are on stdout. */
    lines: (count: number) =>
      until(() => stdout.split("\n").length > count, { pauseMs: 2, seen: () => stdout }),
    exit: once(child, "close").then(([code]) => code as number),
  };
}

longTest(
  "a sandbox that was killed frees its file for the next one, which gets the address of a live one",
  async () => {
    needsBuild();
    const folder = temporaryFolder();
    const env = { PATH: process.env.PATH ?? "", CAT_HOME: join(folder, ".home"), TMPDIR: folder };
    const flags = ["serve", "--mock", "--port", "0", "--json", "--load", "s.json", "--save", "s.json"];
    const start = () =>
      execa(process.execPath, [catProgram, ...flags], { cwd: folder, env, extendEnv: false, reject: false });
    const first = start();
    const [line] = (await once(first.stdout!, "data")) as [Buffer];
    const { base_url } = JSON.parse(line.toString());
    const second = await start();
    expect([second.exitCode, JSON.parse(second.stderr).error.code]).toEqual([2, "sandbox_running"]);
    expect(second.stderr).toContain(base_url);
    first.kill("SIGKILL");
    await first;
    const third = start();
    await once(third.stdout!, "data");
    third.kill("SIGTERM");
    expect(await third).toMatchObject({ exitCode: 143, stderr: "" });
    expect(existsSync(join(folder, "s.json"))).toBe(true);
  },
);
