import pLimit from "p-limit";
import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { isEnded } from "../results/follow-imports.ts";
import { ResultsReader } from "../results/results.ts";
import type { DoubtfulCall } from "./doubtful-calls.ts";
import { settleCall } from "./settle.ts";

export interface SettleDeps {
  client: Client;
  run: Pick<RunAtHand, "state" | "account">;
  concurrency: number;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  /** Told each import as it has ended. */
  onEnded?: (job: Import) => void;
}

/**
 * Waits for the imports of accepted calls and writes their results into the ledger. Gives the calls whose import the
 * service does not know any more.
 */
export async function settleCalls(
  accepted: readonly DoubtfulCall[],
  { client, run, concurrency, signal, onProgress, onEnded }: SettleDeps,
): Promise<DoubtfulCall[]> {
  const reader = new ResultsReader(client, signal);
  const limit = pLimit(concurrency);
  const lost: DoubtfulCall[] = [];
  let done = 0;
  await Promise.all(
    accepted.map((one) =>
      limit(async () => {
        const { jobs, rows, bytes } = one.call;
        const importId = jobs[0]!;
        try {
          const input = { import_id: importId };
          const job = await client.poll(operations.imports.get, input, { done: isEnded, signal });
          onEnded?.(job);
          const of = { importId, rows: rows.length, bytes };
          settleCall(run, one.call, job.status === "failed" ? [] : await reader.read(of));
        } catch (error) {
          if (!(error instanceof ApiError && error.status === 404)) throw error;
          lost.push(one);
        }
        onProgress(++done, accepted.length);
      }),
    ),
  );
  return lost;
}
