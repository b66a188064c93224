// Sending: cuts rows into batches of at most 2,000 rows and 8 MB, sends them and follows their imports.

import { type CutBatch, type ReadyBatch, rowsIn, type SentBatch } from "../../run/batch.ts";
import { sendBatches } from "../../run/send.ts";
import type { Stage } from "../../run/stage.ts";
import type { ImportRun } from "../run/import-run.ts";
import type { ResumedRun } from "../run/resumed-run.ts";
import { cutIntoBatches } from "./cut-batches.ts";
import { importOperation, listedAs } from "./import-operation.ts";

/**
 * Resends batches of an earlier process with an unknown outcome, then sends the other rows in batches, and
 * has each import followed. `planned`: number of rows in new batches.
 */
export async function sendRows(run: ImportRun, planned: number): Promise<Stage<SentBatch[]>> {
  const { input, service, resumed, progress, follower } = run;
  const accepted = resumed.earlier.filter(({ state }) => state !== "sent");
  const sentBefore = rowsIn(accepted);
  progress.begin(planned + rowsIn(resumed.earlier) - sentBefore, sentBefore);
  const follow = (importId: string) => {
    if (input.wait) follower.add(importId);
  };
  for (const { jobs } of accepted) follow(jobs[0]!);
  const cut = cutIntoBatches(run.rows.decided(), {
    source: input.file.source,
    imageIdOf: (path) => imageIdOf(path, run),
    onKept: run.rows.keep,
  });
  const { sent, stopped } = await sendBatches(resumed.run, concatenated(resumed.again(), cut), {
    operation: importOperation(service.client, input),
    listedAs: listedAs(input.file.source.name, input.mode),
    changesProducts: true,
    guarded: input.photos === "new",
    onAccepted: ({ jobs, rows }, { createdAt }) => {
      const { state, account } = resumed.run;
      // The first refresh of the ledger starts at the first import, or at 0 if its time is unknown.
      if (state.ledger.lookedAt(account) === null && createdAt !== null)
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

async function* concatenated(
  first: AsyncGenerator<ReadyBatch>,
  second: AsyncGenerator<CutBatch>,
): AsyncGenerator<CutBatch | ReadyBatch> {
  yield* first;
  yield* second;
}

/**
 * All batches of the run in file order: rows that this process sent may lie between those of an earlier one.
 */
export const batchesOfRun = (
  resumed: Pick<ResumedRun, "earlier">,
  sending: Stage<SentBatch[]>,
): SentBatch[] =>
  [...earlierBatches(resumed, sending), ...sending.done].sort(
    (one, other) => one.lines[0]! - other.lines[0]!,
  );

/**
 * The batches of an earlier process: accepted ones, and those with an unknown outcome that this process did
 * not resend.
 */
function earlierBatches(
  { earlier }: Pick<ResumedRun, "earlier">,
  { done, stopped }: Stage<SentBatch[]>,
): SentBatch[] {
  const now = new Set(done.map(({ index }) => index));
  return earlier.flatMap(({ index, rows, lines, bytes, state, jobs }): SentBatch[] => {
    const batch = { index, rows, lines, bytes };
    if (state !== "sent") return [{ ...batch, kind: "accepted", jobs }];
    return now.has(index) ? [] : [{ ...batch, kind: "unknown", error: stopped }];
  });
}
