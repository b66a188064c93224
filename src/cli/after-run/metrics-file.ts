import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import type { Clock } from "../../clock.ts";
import { OutputFile } from "../../flows/files/output-file.ts";
import { shellWord } from "../../shell-word.ts";
import { lockTemporaryFile, waitForLock } from "../../state/file-lock.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { readFilePlace, writablePlace } from "../files/places.ts";
import { outputFormat } from "../output/output-names.ts";
import { addNumbers, type CommandNumbers } from "./metrics.ts";
import { ForeignMetrics, type MetricsFile, metricsText, parseMetrics } from "./prometheus-text.ts";

/** The time to wait for another command that writes the file, in milliseconds. */
const patienceMs = 5_000;

/** Checks a file of `--metrics` before the run. Resolves to its path. Throws UsageError. */
export async function checkMetricsFile({ context, io }: App, name: string): Promise<string> {
  const cannot = (why: string, hint = "Choose another file, for example --metrics catalogue.prom.") =>
    new UsageError(`cannot write --metrics ${io.visible(name)}: ${why}`, {
      code: "invalid_metrics_file",
      param: "--metrics",
      hint,
    });
  outputFormat("--metrics", name, ["prom"]);
  if (extname(name).toLowerCase() !== ".prom") throw cannot("its name does not end in .prom");
  const path = resolve(context.cwd, name);
  const { problem, hint } = await writablePlace(path);
  if (problem !== null) throw cannot(problem, hint);
  // The name of a link stays, and its file is replaced.
  const { path: file } = await readFilePlace(path);
  try {
    await readMetrics(file);
  } catch (error) {
    if (!(error instanceof ForeignMetrics)) throw error;
    const moved = `mv ${shellWord(name)} ${shellWord(`${name}.old`)}`;
    throw cannot(error.message, `Choose another file, or move this one to start with new counters: ${moved}`);
  }
  return file;
}

async function readMetrics(path: string): Promise<MetricsFile> {
  const missing = (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  };
  return parseMetrics(await readFile(path, "utf8").catch(missing));
}

/** Adds the numbers of a command to a file, which other commands may do at the same time. */
export async function addToMetricsFile(clock: Clock, path: string, ended: CommandNumbers): Promise<void> {
  const unlock = await waitForLock(() => lockTemporaryFile(`${path}.lock`), clock, patienceMs);
  if (unlock === null) throw new Error("another command is writing it");
  try {
    const file = await readMetrics(path);
    addNumbers(file, ended);
    // One name for all, under the lock: the next command removes what a killed one left.
    const output = await OutputFile.begin(path, true, `metrics-${basename(path)}`);
    await output.write(metricsText(file));
    await output.commit();
  } finally {
    unlock();
  }
}
