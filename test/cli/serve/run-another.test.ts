import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runAnother } from "../../../src/cli/commands/serve/run-another.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

/** Whether a process runs; one that has ended can wait for its parent (state Z). */
const runs = (pid: string): boolean => {
  try {
    return !execFileSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).startsWith("Z");
  } catch {
    return false;
  }
};

test("a program that ignores SIGTERM is killed after 5 s, with what it has started", async () => {
  const folder = temporaryFolder();
  const clock = new TestClock({ frozenAt: 0 });
  const stop = new AbortController();
  const running = runAnother(
    { cwd: folder, env: { PATH: process.env.PATH }, passSignals: async () => () => {}, clock },
    ["sh", "-c", 'trap "" TERM; sleep 60 & echo $! > new; mv new started; wait'],
    {},
    { stop: stop.signal, hasOwnGroup: true },
  );
  const started = join(folder, "started");
  await until(() => existsSync(started), { pauseMs: 5 });
  const grandchild = readFileSync(started, "utf8").trim();
  expect(runs(grandchild)).toBe(true);
  stop.abort();
  expect([await running, clock.now()]).toEqual([137, 5_000]);
  await until(() => !runs(grandchild), { pauseMs: 5 });
});

test("on Windows, cmd gets the arguments of a batch file with each of its signs escaped", () => {
  // As the program runs there: cross-spawn asks for the system when it is loaded.
  const script = `
    Object.defineProperty(process, "platform", { value: "win32" });
    const { args } = require("cross-spawn")._parse("show.cmd", process.argv.slice(1), {});
    process.stdout.write(JSON.stringify(args));`;
  const lineOf = (...args: string[]) =>
    JSON.parse(execFileSync(process.execPath, ["-e", script, "--", ...args], { encoding: "utf8" }));
  expect(lineOf("%PATH%", "A & B", 'a"b^', "-1")).toEqual([
    ...["/d", "/s", "/c"],
    String.raw`"show.cmd ^"^%PATH^%^" ^"A^ ^&^ B^" ^"a\^"b^^^" ^"-1^""`,
  ]);
});
