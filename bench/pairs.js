import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** The root of the project. */
export const root = new URL("..", import.meta.url).pathname;

/**
 * Runs a command to its end, with `input` as its stdin and its stdout in the file `into`; returns its wall time in
 * milliseconds and its output, of a file only the end.
 */
export async function timed(command, args, options = {}) {
  const started = process.hrtime.bigint();
  const { input, into, ...rest } = options;
  const stdin = input === undefined ? "ignore" : "pipe";
  const stdout = into === undefined ? "pipe" : openSync(into, "w");
  const child = spawn(command, args, { stdio: [stdin, stdout, "inherit"], cwd: root, ...rest });
  child.stdin?.end(input);
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  const status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} exited with ${status}`);
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (into === undefined) return { ms, output };
  closeSync(stdout);
  return { ms, output: endOf(into) };
}

/** The last bytes of a file. */
function endOf(path) {
  const file = openSync(path, "r");
  const bytes = Buffer.alloc(100);
  const length = readSync(file, bytes, 0, bytes.length, Math.max(0, fstatSync(file).size - bytes.length));
  closeSync(file);
  return bytes.toString("utf8", 0, length);
}

/**
 * Runs a script and reads its peak memory (MB), its processor time and the part of it that is its own (ms), from the line it
 * prints on stdout at its end.
 */
export async function withPeak([script, ...args], options = {}) {
  const { ms, output } = await timed(
    process.execPath,
    ["--import", join(root, "bench/print-peak.js"), script, ...args],
    options,
  );
  const [, peak, cpuMs, userMs] = /peak (\d+) cpu (\d+) user (\d+)/.exec(output) ?? [];
  return { ms, peak: Number(peak), cpuMs: Number(cpuMs), userMs: Number(userMs) };
}

/** Downloads URLs into a folder with a bare loop on undici. */
export const downloadLoop = (folder, urls) =>
  timed(process.execPath, [join(root, "bench/download-loop.js"), folder], { input: urls.join("\n") });

/** The same with a bare loop that keeps the promises of a mirror. */
export const durableLoop = (folder, urls, ...flags) =>
  withPeak([join(root, "bench/durable-loop.js"), folder, ...flags], { input: urls.join("\n") });

/** The median of A/B over alternating pairs of runs, so that a drift of the machine's speed cancels out. */
export async function pairedRatio(runs, one, other) {
  await one();
  await other();
  const ratios = [];
  for (let run = 0; run < runs; run++) {
    const a = await one();
    const b = await other();
    ratios.push(a / b);
  }
  return median(ratios);
}

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
