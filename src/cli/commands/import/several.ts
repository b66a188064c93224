import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import type { ImportSummary } from "../../../flows/import/summary.ts";
import { addPhotos, noCounts } from "../../../flows/import/summary.ts";
import { type CheckResult, checkCounts } from "../../../flows/rows/check.ts";
import { shellWord } from "../../../shell-word.ts";
import { UsageError } from "../../context/errors.ts";
import { readIdentity } from "../../files/places.ts";
import type { ImportFlags } from "./flags.ts";

/** Rejects what several files cannot share, and a file that is named twice. Throws UsageError. */
export async function rejectUnshared(files: readonly ImportFlags[], cwd: string): Promise<void> {
  const [{ failed, results, limit, imagesFrom, pattern, mode, photos, wait, plan, maxChanges, maxRemovals }] =
    files as [ImportFlags];
  const flags = {
    "--failed": failed !== undefined,
    "--results": results !== undefined,
    "--limit": limit !== undefined,
    "--images-from": imagesFrom !== undefined,
    "--plan": plan !== undefined,
    "--max-changes": maxChanges !== undefined,
    "--max-removals": maxRemovals !== undefined,
    "--pattern": pattern !== undefined,
    // Each file settles what the one before it left.
    "--no-wait": !wait,
    // The same command, which resumes a stopped one, sends finished files again.
    "--mode create": mode === "create",
    "--photos all": mode === "upsert" && photos === "all",
  };
  const flag = Object.entries(flags).find(([, isGiven]) => isGiven)?.[0];
  if (flag !== undefined) throw unshared(`${flag} cannot be used with several files`, flag.split(" ")[0]!);
  const names = new Map<string, string>();
  for (const { file } of files) {
    if (file === "-") throw unshared("standard input (-) cannot be combined with files", "FILE");
    const path = resolve(cwd, file);
    const stats = await stat(path).catch(() => null);
    if (isBucketAddress(file)) throw unshared(`${file} cannot be combined with other files`, "FILE");
    if (stats?.isDirectory())
      throw new UsageError(`the folder ${file} cannot be combined with other files`, {
        param: "FILE",
        hint: `To add its photos to the rows of a file, use --images-from ${shellWord(file)} instead.`,
      });
    const identity = await readIdentity(path);
    const before = names.get(identity);
    if (before !== undefined)
      throw new UsageError(
        before === file ? `${file} is named twice` : `${before} and ${file} are the same file`,
        { param: "FILE", hint: "Remove one of them." },
      );
    names.set(identity, file);
  }
}

const unshared = (message: string, param: string): UsageError =>
  new UsageError(message, { param, hint: "Import each file with a command of its own." });

const counts = [
  "total",
  "invalid",
  "submitted",
  "succeeded",
  "partial",
  "failed",
  "created",
  "updated",
  "skipped",
  "unchanged",
  "kept",
  "conflicts",
  "deleted",
  "known_failures",
  "duration_ms",
] as const;

/** The sums of several files. Of files that were not started, only their rows are counted. */
export type ImportTotals = Pick<ImportSummary, (typeof counts)[number] | "photos" | "not_applied">;

export function toTotals(
  summaries: readonly ImportSummary[],
  notStarted: readonly CheckResult[],
): ImportTotals {
  const all: readonly Partial<ImportTotals>[] = [...summaries, ...notStarted];
  const sum = (name: (typeof counts)[number]) => all.reduce((sum, { [name]: count = 0 }) => sum + count, 0);
  const { photos, not_applied } = noCounts();
  for (const summary of summaries) {
    addPhotos(photos, summary.photos);
    not_applied.emptied += summary.not_applied.emptied;
    not_applied.removed += summary.not_applied.removed;
  }
  return {
    ...Object.fromEntries(counts.map((name) => [name, sum(name)])),
    photos,
    not_applied,
  } as ImportTotals;
}

/** Writes the problems of several files as one JSON object: that of each file in `files`, and the sums. */
export class JsonOfFiles {
  readonly #write: (text: string) => Promise<void>;
  #isBegun = false;

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  next(): (text: string) => Promise<void> {
    let isNew = true;
    return async (text) => {
      const before = isNew ? (this.#isBegun ? "," : '{"files":[') : "";
      isNew = false;
      this.#isBegun = true;
      await this.#write(before + text.replace(/\n$/, ""));
    };
  }

  /** Writes the sums, if there was any file. */
  async end(checks: readonly CheckResult[], more: object = {}): Promise<void> {
    if (!this.#isBegun) return;
    const counts = { ...checkCounts(checks), ...more };
    await this.#write(`],${JSON.stringify(counts).slice(1)}\n`);
  }
}
