// Failures that are known: a row that failed for the same permanent reason in several runs of its file in a
// row.

import type { FailedRow } from "../../state/failures.ts";
import type { Run } from "../run/run.ts";
import { shortDigest } from "../short-digest.ts";
import { type ImportedRow, isConflictCode, type RowResult } from "./row-result.ts";
import type { SaidRows } from "./said-rows.ts";
import type { Examples } from "./summary.ts";

export const knownAfterRuns = 3;

/** Rows written at once. */
const rowsAtOnce = 1_000;

/** Codes of failures that the next run may not have. */
const temporary: ReadonlySet<string> = new Set([
  ..."timeout too_many_attempts row_failed import_failed unknown product_changed".split(" "),
  ..."product_not_found photos_missing not_sent".split(" "),
]);

/** An `http_error` of a server that is busy or down. */
const passingStatus = /\bstatus (?:5\d\d|408|425|429)\b/;

const isPermanent = ({ code, message }: { code: string; message: string }): boolean =>
  !temporary.has(code) && !/^5\d\d$/.test(code) && !passingStatus.test(message);

/** Codes of rows that failed for photos alone: partial in the first run, failed in the next one. */
const ofPhotos: ReadonlySet<string> = new Set(["image_failed", "no_images"]);

/** Why a row failed, as a digest of codes and sources; null if that may pass by itself. */
export function toReason({ error, images }: RowResult): Buffer | null {
  // Photos that failed with their row are no reason.
  const failed = images.filter(({ status, error }) => status === "failed" && error?.code !== "row_failed");
  if (error?.code === "image_failed" && failed.length === 0) return null;
  const own = error !== null && !(failed.length > 0 && ofPhotos.has(error.code)) ? [error] : [];
  const unknown = { code: "unknown", message: "" };
  const reasons = failed.map((image) => ({ ...(image.error ?? unknown), source: image.source }));
  const all = [...own, ...reasons];
  if (all.length === 0 || !all.every(isPermanent)) return null;
  return shortDigest(
    JSON.stringify([own.map(({ code }) => code), reasons.map(({ code, source }) => [code, source])]),
    16,
  );
}

/** Counts the known failures of one run of a file. Those of a file without a lasting place are not known. */
export class KnownFailures {
  readonly #run: Run;
  readonly #said: SaidRows;
  readonly #examples: Examples;
  #failed: FailedRow[] = [];
  #succeeded: string[] = [];
  #count = 0;

  constructor(run: Run, said: SaidRows, examples: Examples) {
    this.#run = run;
    this.#said = said;
    this.#examples = examples;
  }

  /** Adds the outcome of a row of which the service has reported the result. */
  add({ result }: ImportedRow): void {
    if (result === undefined || result.status === "pending") return;
    const isFailed = result.status === "failed" || result.status === "partial";
    if (isFailed && !isConflictCode(result.error?.code ?? ""))
      this.#failed.push({ reference: result.reference, reason: toReason(result) });
    else this.#succeeded.push(result.reference);
    if (this.#failed.length + this.#succeeded.length >= rowsAtOnce) this.#write();
  }

  /** The number of known failures. `isComplete`: every row of the file has a result. */
  end(isComplete: boolean): number {
    this.#write();
    const { file } = this.#said;
    if (isComplete && file !== null) this.#run.state.failures.forgetOthers(file, this.#run.id);
    return this.#count;
  }

  #write(): void {
    const { failures } = this.#run.state;
    const isNew = this.#failed.some(({ reason }) => reason !== null);
    const file = isNew ? this.#said.openFile() : this.#said.file;
    if (file !== null && this.#succeeded.length > 0 && failures.areAny(file))
      failures.forget(file, this.#succeeded);
    if (file !== null && this.#failed.length > 0) {
      const known = failures.count(file, this.#run.id, this.#failed, knownAfterRuns);
      this.#count += known.length;
      for (const reference of known) this.#examples.add("known", reference);
    }
    [this.#failed, this.#succeeded] = [[], []];
  }
}
