// Sending: rows cut into batches of at most 2,000 rows and 8 MB, sent, and their imports followed.

import { Journal } from "../../batches/journal.ts";
import { sendBatches } from "../../batches/send.ts";
import { type CutBatch, type ReadyBatch, rowsIn, type SentBatch } from "../../batches/sent-batch.ts";
import type { Stage } from "../../runs/stage.ts";
import type { ImportRun } from "../run/import-run.ts";
import type { TakenUp } from "../run/taken-up.ts";
import { cutIntoBatches } from "./cut-batches.ts";
import { importOperation, listedAs } from "./import-operation.ts";

/**
 * Sends the rows in calls, after those of an earlier process whose outcome is unknown, and has each import followed from
 * then on. `planned`: how many rows the plan has for calls of their own.
 */
export async function sendRows(run: ImportRun, planned: number): Promise<Stage<SentBatch[]>> {
  const { input, service, taken, progress, follower } = run;
  const { client, clock, signal, concurrency } = service;
  const accepted = taken.earlier.filter(({ state }) => state !== "sent");
  const sentBefore = rowsIn(accepted);
  progress.begin(planned + rowsIn(taken.earlier) - sentBefore, sentBefore);
  const follow = (importId: string) => {
    if (input.wait) follower.add(importId);
  };
  for (const { jobs } of accepted) follow(jobs[0]!);
  const cut = cutIntoBatches(run.rows.decided(), {
    source: input.file.source,
    imageIdOf: (path) => imageIdOf(path, run),
    onKept: run.rows.keep,
  });
  const { sent, stopped } = await sendBatches(oneAfterTheOther(taken.again(), cut), {
    operation: importOperation(client, input),
    clock,
    signal,
    concurrency,
    journal: new Journal(taken.run, taken.earlier, service, {
      listedAs: listedAs(input.file.source.name, input.mode),
      changesProducts: true,
      guarded: input.photos === "new",
    }),
    onAccepted: ({ jobs, rows }, { createdAt }) => {
      const { state, account } = taken.run;
      // The first look at changes goes back to the first import.
      if (state.ledger.lookedAt(account) === null && !Number.isNaN(createdAt))
        state.ledger.setLookedAt(account, createdAt);
      progress.accepted(rows.length);
      follow(jobs[0]!);
    },
  });
  progress.written();
  return { done: sent, stopped };
}

async function imageIdOf(path: string, { input, uploads }: ImportRun): Promise<string> {
  const upload = uploads.get(await input.localPhotos.digest(path));
  if (upload === undefined || !("image" in upload)) throw new Error(`the photo ${path} was not uploaded`);
  return upload.image;
}

async function* oneAfterTheOther(
  first: AsyncGenerator<ReadyBatch>,
  second: AsyncGenerator<CutBatch>,
): AsyncGenerator<CutBatch | ReadyBatch> {
  yield* first;
  yield* second;
}

/** All calls of the run, in the order of the file: rows that this process had to send anew stand between those of an earlier one. */
export const batchesOfRun = (taken: Pick<TakenUp, "earlier">, sending: Stage<SentBatch[]>): SentBatch[] =>
  [...earlierBatches(taken, sending), ...sending.done].sort((one, other) => one.lines[0]! - other.lines[0]!);

/** The calls that an earlier process sent: those that the service accepted, and those that this one did not come to send again. */
function earlierBatches(
  { earlier }: Pick<TakenUp, "earlier">,
  { done, stopped }: Stage<SentBatch[]>,
): SentBatch[] {
  const now = new Set(done.map(({ index }) => index));
  return earlier.flatMap(({ index, rows, lines, bytes, state, jobs }): SentBatch[] => {
    const call = { index, rows, lines, bytes };
    if (state !== "sent") return [{ ...call, kind: "accepted", jobs }];
    return now.has(index) ? [] : [{ ...call, kind: "unknown", error: stopped }];
  });
}
