import pLimit from "p-limit";
import { ApiError } from "../../../client/api-error.ts";
import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import { isEnded } from "./follow-imports.ts";
import { ResultsReader } from "./results-reader.ts";
import { settleBatch } from "./settle-batch.ts";

export interface SettleWatcher {
  onProgress: (done: number, total: number) => void;
  /** Receives each import once it has ended. */
  onEnded?: (job: Import) => void;
}

/**
 * Waits for the imports of accepted batches, writes their results to the ledger, and their statuses for `cat
 * imports list`. Skips imports that the service no longer knows.
 */
export async function settleBatches(
  accepted: readonly StoredBatch[],
  run: Pick<RunAtHand, "state" | "sentJobs" | "account">,
  { client, signal, concurrency }: Service,
  { onProgress, onEnded }: SettleWatcher,
): Promise<void> {
  const reader = new ResultsReader(client, signal);
  const limit = pLimit(concurrency);
  let done = 0;
  const settle = async (batch: StoredBatch) => {
    const importId = batch.jobs[0]!;
    try {
      const input = { import_id: importId };
      const job = await client.poll(operations.imports.get, input, { done: isEnded, signal });
      run.sentJobs.seen(importId, job.status);
      onEnded?.(job);
      const of = { importId, rows: batch.rows.length, bytes: batch.bytes };
      settleBatch(run, batch, job.status === "failed" ? [] : await reader.read(of));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
    onProgress(++done, accepted.length);
  };
  await Promise.all(accepted.map((batch) => limit(settle, batch)));
}
