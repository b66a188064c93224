import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, onTestFinished } from "vitest";

export interface Worker {
  readonly process: ChildProcess;
  /** Its output lines so far. */
  readonly lines: readonly string[];
  /** Resolves after this many lines, or when the process has ended. */
  said(count: number): Promise<void>;
  /** Resolves when the process has ended and all its output has arrived. */
  readonly ended: Promise<void>;
}

/** Builds `worker.ts` before the tests of a file; returns a function that starts it in 0.1 s. */
export function buildWorker(): (path: string, task: string, name: string, times?: number) => Worker {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "catalogue-test-worker-")));
  const program = join(folder, "worker.mjs");
  beforeAll(async () => {
    const libsql = createRequire(import.meta.url).resolve("libsql");
    await build({
      entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      alias: { libsql },
      external: [libsql],
      logLevel: "warning",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  return (path, task, name, times = 0) => {
    const child = spawn(process.execPath, [program, path, task, name, String(times)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout! });
    let changed = () => {};
    reader.on("line", (line) => {
      lines.push(line);
      changed();
    });
    let isOver = false;
    const ended = Promise.all([
      new Promise((resolve) => reader.once("close", resolve)),
      new Promise((resolve) => child.once("exit", resolve)),
    ]).then(() => {
      isOver = true;
      changed();
    });
    return {
      process: child,
      lines,
      ended,
      async said(count) {
        while (lines.length < count && !isOver) await new Promise<void>((resolve) => (changed = resolve));
      },
    };
  };
}
