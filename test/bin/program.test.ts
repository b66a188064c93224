import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { catalogueProgram, catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

/** Runs a line in bash on a pseudo-terminal, with `cat` and `catalogue` as this program. */
const onTerminal = (line: string, cwd = temporaryFolder()) => {
  const script = `cat() { ${catProgram} "$@"; }; catalogue() { ${catalogueProgram} "$@"; }; ${line}`;
  return execa("script", ["-qec", script, "/dev/null"], {
    reject: false,
    cwd,
    stdin: "ignore",
    env: { SHELL: "/bin/bash", TERM: "xterm" },
  });
};
const hasScript = (await execa("script", ["--version"], { reject: false })).exitCode === 0;

test("both programs print the version", async () => {
  for (const program of [catProgram, catalogueProgram]) {
    const ran = await execa(program, ["--version"]);
    expect(ran.stdout).toBe(`catalogue ${manifest.version}`);
    const { stdout } = await execa(program, ["--version", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ version: manifest.version });
  }
});

longTest("catalogue does not run the system's cat", async () => {
  const ran = await execa(catalogueProgram, ["notes.txt"], { reject: false });
  expect({ exit: ran.exitCode, stderr: ran.stderr }).toEqual({
    exit: 2,
    stderr: 'error: unknown command "notes.txt"\nSee: catalogue --help',
  });
  expect((await execa(catalogueProgram, [], { input: "" })).stdout).toContain("Usage: catalogue COMMAND");
});

longTest("each program names itself in the help and in next steps, also through a link", async () => {
  const link = join(temporaryFolder(), "catalogue");
  symlinkSync(catalogueProgram, link);
  for (const [name, program] of [
    ["cat", catProgram],
    ["catalogue", catalogueProgram],
    ["catalogue", link],
  ] as const) {
    const help = (await execa(program, ["--help"])).stdout;
    expect(help).toContain(`Usage: ${name} COMMAND`);
    expect(help).toContain(`\n  $ ${name} import products.csv --mock\n`);
    expect(help).toContain("`cat notes.txt`, `echo hi | cat` and `cat -n FILE`");
    const failed = await execa(program, ["webhooks", "nope"], { reject: false });
    expect(failed.stderr.split("\n").at(-1)).toBe(`See: ${name} webhooks --help`);
  }
});

longTest("accepts a global flag before the command", async () => {
  const ran = await spawnCat(["--json", "--mock", "products", "list", "--limit", "1"]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ reference: expect.any(String) });
  expect(ran.exitCode).toBe(0);
});

longTest("ends once its error is printed, although other requests wait for the rate limit", async () => {
  const error = { type: "rate_limited", code: "rate_limit_exceeded", message: "too many requests" };
  const server = createServer((_, response) =>
    response
      .writeHead(429, { "content-type": "application/json", "retry-after": "7200" })
      .end(JSON.stringify({ error })),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const cwd = temporaryFolder();
  const row = (name: string) => `${name},Dress,01HN1H1W03G3J39PHXRX8Z6R44\n`;
  writeFileSync(join(cwd, "a.csv"), `reference,name,images\n${row("A")}${row("B")}`);
  const env = {
    CAT_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ CAT_API_KEY: "ak_mock", CAT_HOME: temporaryFolder() },
  };
  const ran = await spawnCat(["import", "a.csv"], { cwd, env, timeout: 30_000 });
  expect(ran.stderr).toContain("Try again in 2 h.\n");
  expect({ exit: ran.exitCode, timedOut: ran.timedOut }).toEqual({ exit: 7, timedOut: false });
});

longTest("accepts the heads of responses that Node is told to accept", async () => {
  const headers = { "content-type": "application/json", "x-policy": "a".repeat(20_000) };
  const server = createServer((_, response) =>
    response.writeHead(200, headers).end('{"data":[],"has_more":false,"next_cursor":null}'),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const env = {
    CAT_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ CAT_API_KEY: "ak_mock", CAT_HOME: temporaryFolder() },
    NODE_OPTIONS: "--max-http-header-size=32768",
  };
  const ran = await spawnCat(["models", "list"], { env });
  expect([ran.exitCode, ran.stderr]).toEqual([0, "No models found.\n"]);
});

longTest("exits with 0 and without a message when the reader closes the pipe", async () => {
  const script = `set -o pipefail; ${catProgram} products list --mock --all --json | head -n 1 | wc -l; echo $?`;
  const ran = await execa("/bin/bash", ["--norc", "-c", script], { stdin: "ignore" });
  expect({ stdout: ran.stdout, stderr: ran.stderr }).toEqual({ stdout: "1\n0", stderr: "" });
});

describe("an interrupt", () => {
  async function interrupted(signals: NodeJS.Signals[], args: string[]) {
    const child = spawn(catProgram, args, { stdio: ["pipe", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stderr.on("data", (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    child.stdout.on("data", (bytes: Buffer) => {
      if (stdout === "") for (const signal of signals) child.kill(signal);
      stdout += bytes.toString();
    });
    // The output ends after the process.
    const [status, signal] = await once(child, "close");
    // A signal that arrives while Node exits has its default effect; a shell shows the same status.
    const exit = status ?? 128 + constants.signals[signal as NodeJS.Signals];
    return { exit, stderr };
  }
  const serve = ["serve", "--mock", "--port", "0", "--json"];

  test.for(
    sampled(
      [
        ["SIGINT", 130],
        ["SIGTERM", 143],
      ] as const,
      1,
    ),
  )("exits with its status: %s, %i", async ([signal, exit]) => {
    expect(await interrupted([signal], serve)).toEqual({ exit, stderr: "" });
  });

  longTest("stops at once the second time", async () => {
    expect((await interrupted(["SIGINT", "SIGINT", "SIGINT"], serve)).exit).toBe(130);
  });

  longTest("does not wait for stdin", async () => {
    const child = spawn(catProgram, ["import", "-", "--format", "ndjson", "--mock"], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    const closed = once(child, "close");
    // More than a pipe holds: once it is written, most of it has been read.
    await new Promise((resolve) => child.stdin.write(" \n".repeat(200_000), resolve));
    child.kill("SIGINT");
    expect((await closed)[0]).toBe(130);
    expect(stderr).toContain("interrupted\n");
  });
});

describe.skipIf(!hasScript)("on a terminal", () => {
  test("no arguments print the help", async () => {
    const ran = await onTerminal("cat");
    expect(ran.stdout).toContain("COMMAND [flags]");
    expect(ran.stdout).toContain("import products");
  });

  longTest("no arguments with redirected stdout write the typed text to the file", async () => {
    const cwd = temporaryFolder();
    const script = `${catProgram} > typed.txt; /bin/cat typed.txt`;
    const ran = await execa("script", ["-qec", script, "/dev/null"], {
      cwd,
      env: { SHELL: "/bin/bash" },
      input: "a line\n\u0004",
    });
    expect(ran.stdout).toContain("a line");
    expect(ran.stdout).not.toContain("COMMAND");
  });

  longTest("the system's cat is connected to the terminal", async () => {
    const ran = await onTerminal("cat <(tty -s < /dev/tty && echo terminal); cat -A <<< hi");
    expect(ran.stdout).toContain("terminal");
    expect(ran.stdout).toContain("hi$");
  });

  longTest("a table fits the width and has a bold heading", async () => {
    const ran = await onTerminal("stty cols 60; cat products list --mock --limit 2");
    expect(ran.stdout).toContain("\u001b[1mreference    name");
    expect(ran.stdout).toContain("sex");
    expect(ran.stdout).toContain("The terminal is too narrow for: id.");
  });
});
