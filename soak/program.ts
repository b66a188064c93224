import { type ChildProcess, spawn } from "node:child_process";
import type { ProgramSignal } from "./trouble.ts";

/** How a process ended: by itself with a status, or killed (null). */
export interface Ending {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** Longer than any import here takes; a process still running then hangs. */
const patienceMs = 90_000;

/** One process of the program. */
export class Running {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ending>;
  /** What it has printed so far. */
  readonly out = { stdout: "", stderr: "" };
  #hangs = false;

  constructor(
    program: string,
    args: readonly string[],
    { cwd, env }: { cwd: string; env: Record<string, string> },
  ) {
    const began = performance.now();
    this.#child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? "", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { out } = this;
    for (const stream of ["stdout", "stderr"] as const) {
      this.#child[stream]!.setEncoding("utf8").on("data", (text: string) => {
        out[stream] += text;
      });
    }
    const patience = setTimeout(() => {
      this.#hangs = true;
      this.kill();
    }, patienceMs);
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (status) => {
        clearTimeout(patience);
        const ms = performance.now() - began;
        resolve({ ...out, ms, status: this.#hangs ? 99 : status });
      });
    });
  }

  /** kill -9: no part of it keeps running. */
  readonly kill = (signal: ProgramSignal = "SIGKILL"): void => {
    this.#child.kill(signal);
  };
}
