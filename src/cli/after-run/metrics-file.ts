import { basename, resolve } from "node:path";
import type { Clock } from "../../clock.ts";
import { fileStart } from "../../flows/files/disk.ts";
import { OutputFile } from "../../flows/files/output-file.ts";
import { byteText } from "../../flows/words.ts";
import { shellWord } from "../../shell-word.ts";
import { lockTemporaryFile, waitForLock } from "../../state/file-lock.ts";
import { StateError } from "../../state/state-error.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { readFilePlace, writablePlace } from "../files/places.ts";
import { outputFormat } from "../output/output-names.ts";
import { addNumbers, type CommandNumbers } from "./metrics.ts";
import { ForeignMetrics, isOwn, type MetricsFile, metricsText, parseMetrics } from "./prometheus-text.ts";

/** The time to wait for another command that writes the file, in milliseconds. */
const patienceMs = 5_000;

/** The largest file that is read, in bytes. That of a thousand runs has a tenth of it. */
const largestFile = 4_000_000;

const lockOf = (path: string) => lockTemporaryFile(`${path}.lock`);

/** Checks a file of `--metrics` before the run. Resolves to its path. Throws UsageError. */
export async function checkMetricsFile({ context, io }: App, name: string): Promise<string> {
  const cannot = (why: string, hint = "Choose another file, for example --metrics catalogue.prom.") =>
    new UsageError(`cannot write --metrics ${io.visible(name) || '""'}: ${why}`, {
      code: "invalid_metrics_file",
      param: "--metrics",
      hint,
    });
  outputFormat("--metrics", name, ["prom"]);
  // The collector compares by case.
  if (!name.endsWith(".prom")) throw cannot("its name does not end in .prom");
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
  const unlock = await lockOf(file).catch((error: unknown) => {
    if (!(error instanceof StateError)) throw error;
    throw cannot(
      `it cannot be locked: ${error.message}`,
      `Check ${shellWord(`${file}.lock`)}, or choose another file.`,
    );
  });
  unlock?.();
  return file;
}

async function readMetrics(path: string): Promise<MetricsFile> {
  const missing = (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  };
  const start = await fileStart(path, largestFile + 1).catch(missing);
  const text = start.toString("utf8");
  if (start.length > largestFile && isOwn(text))
    throw new ForeignMetrics(`it is larger than ${byteText(largestFile)}`);
  return parseMetrics(text);
}

/** Adds the numbers of a command to a file. Other commands may do so meanwhile; `signal` ends the wait. */
export async function addToMetricsFile(
  clock: Clock,
  path: string,
  ended: CommandNumbers,
  signal?: AbortSignal,
): Promise<void> {
  const unlock = await waitForLock(() => lockOf(path), clock, patienceMs, signal);
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
