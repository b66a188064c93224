import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { execa } from "execa";
import { beforeEach, describe, expect, onTestFinished } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { delivered } from "../support/delivered.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

beforeEach(needsBuild);

const closingTerminal = fileURLToPath(new URL("../support/closing-terminal.py", import.meta.url));
const hasPython = (await execa("python3", ["-c", "import pty"], { reject: false })).exitCode === 0;
const soon = (holds: () => boolean) => until(holds, { pauseMs: 10 });

/** Node in a version of `engines`; null if the registry has it not. The tests run on the lowest one already. */
async function nodeOf(version: string): Promise<string | null> {
  if (process.version.startsWith(`v${version.split(".")[0]}.`)) return process.execPath;
  const folder = temporaryFolder();
  const binary = `node-${process.platform}-${process.arch}`;
  const got = await execa("npm", ["install", "--prefix", folder, `${binary}@${version}`], { reject: false });
  return got.failed ? null : join(folder, "node_modules", binary, "bin/node");
}

describe.skipIf(!hasPython)(
  "the parent sees the documented status of a command whose terminal closes",
  () => {
    longTest.for(["20.19", "22", "24", "26"])("on Node %s", async (version, { skip }) => {
      const node = await nodeOf(version);
      if (node === null) return skip(`cannot get Node ${version} from the registry`);
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, "a.csv"), "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
      const end = async (kind: string, text: string, signal: number, line: string) => {
        const args = [closingTerminal, kind, text, String(signal), "", node, catProgram, ...line.split(" ")];
        const env = { CAT_HOME: join(cwd, "home") };
        return (await execa("python3", args, { cwd, env })).stdout.split("\n")[0];
      };
      const serve = "serve --mock --port 0";
      expect(await end("session", "Mock service running", 0, serve)).toBe("exit 129");
      expect(await end("no-session", "Mock service running", 15, serve)).toBe("exit 143");
      expect(await end("session", "Waiting for events.", 0, "webhooks listen --port 0 --mock")).toBe(
        "exit 129",
      );
      // What it has to say has no reader.
      for (const line of ["import a.csv --mock", "products list --mock --all"])
        expect(await end("no-session", "", 0, line)).toBe("exit 0");
      expect(await end("no-session", "", 0, "products get NONE --mock")).toBe("exit 5");
    });
  },
);

/** Starts the program in a folder, with its output in files, as nohup has them. */
function start(line: string, { cwd, env = {} }: { cwd: string; env?: Record<string, string> }) {
  const out = join(cwd, "out.txt");
  const output = openSync(out, "a");
  const child: ChildProcess = spawn(catProgram, line.split(" "), {
    cwd,
    env: { PATH: process.env.PATH, CAT_HOME: join(cwd, "home"), ...env },
    stdio: ["ignore", output, output],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const shows = (text: string) => soon(() => readFileSync(out, "utf8").includes(text));
  return { child, shows, ended: once(child, "exit"), output: () => readFileSync(out, "utf8") };
}

longTest("SIGHUP ends no command without a terminal, as under nohup", async () => {
  const { child, shows, ended } = start("serve --mock --port 0", { cwd: temporaryFolder() });
  await shows("Mock service running");
  child.kill("SIGHUP");
  child.kill("SIGHUP");
  await delivered(child.pid!);
  // The status is that of the first signal that counts.
  child.kill("SIGTERM");
  expect(await ended).toEqual([143, null]);
});

describe("a Ctrl-C that arrives as SIGINT and SIGTERM at once, as under pnpm, is one request", () => {
  const both = (child: ChildProcess) => {
    child.kill("SIGINT");
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGTERM"), 5);
  };

  longTest("serve saves its state", async () => {
    const cwd = temporaryFolder();
    const { child, shows, ended } = start("serve --mock --port 0 --demo 500 --save shop.json", { cwd });
    await shows("Mock service running");
    both(child);
    expect(await ended).toEqual([130, null]);
    expect(JSON.parse(readFileSync(join(cwd, "shop.json"), "utf8"))).toHaveProperty("organizations");
  });

  longTest("listen deletes its webhook", async () => {
    await using mock = await startMock();
    const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
    const { child, shows, ended } = start("webhooks listen --port 0", { cwd: temporaryFolder(), env });
    await shows("Events are stored");
    mock.faults.add({ match: { method: "DELETE" }, delay_ms: 300 });
    both(child);
    expect(await ended).toEqual([0, null]);
    expect(mock.state().organizations.main.webhooks).toEqual([]);
  });

  longTest("import prints how to resume", async () => {
    await using mock = await startMock();
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "a.csv"), "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
    const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
    const { child, ended, output } = start("import a.csv", { cwd, env });
    await soon(() =>
      mock.requests().some(({ method, path }) => method === "POST" && path.startsWith("/v1/imports")),
    );
    both(child);
    expect(await ended).toEqual([130, null]);
    expect(output()).toContain(
      "To resume, run the same command again (nothing is sent twice):\n  cat import a.csv\n",
    );
    expect(existsSync(join(cwd, "home"))).toBe(true);
  });
});

longTest(
  "a second interrupt leaves time to delete the webhook, and the status is that of the first one",
  async () => {
    await using mock = await startMock();
    const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
    const { child, shows, ended } = start("webhooks listen --port 0", { cwd: temporaryFolder(), env });
    await shows("Events are stored");
    mock.faults.add({ match: { method: "DELETE" }, delay_ms: 2_500 });
    child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    child.kill("SIGINT");
    expect(await ended).toEqual([143, null]);
    expect(mock.state().organizations.main.webhooks).toEqual([]);
  },
);

longTest.skipIf(!hasPython)(
  "a listener in the background of a terminal prints lines instead of being stopped",
  async () => {
    await using mock = await startMock();
    const cwd = temporaryFolder();
    const env = { ...{ CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey }, CAT_HOME: cwd, PS1: "$ " };
    const keys = `${catProgram} webhooks listen --port 0 & sleep 3; jobs; kill -INT %1; wait; echo stat''us=$?\n`;
    const args = [closingTerminal, "session", "status=", "0", keys, "bash", "--norc", "--noprofile", "-i"];
    const { stdout } = await execa("python3", args, { cwd, env });
    // bash draws what it has echoed again.
    expect(stripVTControlCharacters(stdout)).toContain("Listening on http://127.0.0.1:");
    expect(stdout).toContain("Running");
    expect(stdout).not.toContain("Stopped");
  },
);
