import { ApiError } from "../../../client/api-error.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { Run as StoredRun } from "../../../state/runs.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { rowsIn } from "../../run/batch.ts";
import { isKeyAlive, readClocks } from "../../run/clocks.ts";
import type { Run } from "../../run/run.ts";
import { sendAsTheyWere } from "../../run/send.ts";
import { isKeyTaken } from "../../service-errors.ts";
import { importOperation, listedAs, type SendOptions } from "../send.ts";
import { settleBatches } from "../settle.ts";

const unsettled = ({ id }: StoredRun, { state }: Run): StoredBatch[] =>
  state.batches.of(id).filter((batch) => batch.state !== "settled");

/** Rows of an import whose results are not known. */
export const unresolvedRows = (target: StoredRun, at: Run): number => rowsIn(unsettled(target, at));

/**
 * Finds out what the batches of a stopped import did. One without a response is sent again while the service knows its key,
 * which tells its outcome; what cannot be found out stays unknown, and nothing of it is undone.
 */
export async function settleTarget(
  target: StoredRun,
  at: Run,
  { onProgress }: { onProgress: (event: ProgressEvent) => void },
): Promise<void> {
  const { mode, onImageError } = target.options as unknown as SendOptions;
  const sent = unsettled(target, at).filter(({ state }) => state === "sent");
  if (sent.length > 0) {
    const clocks = await readClocks(at);
    const askable = sent.filter((batch) => isKeyAlive(batch, clocks) && !batch.isKeyTaken);
    const recording = { listedAs: listedAs(target.file, mode), changesProducts: true };
    const operation = importOperation(at.client, { mode, onImageError });
    try {
      if (askable.length > 0)
        await sendAsTheyWere({ ...at, id: target.id }, askable, { operation, ...recording });
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
    }
  }
  const step = `waiting for the import of ${target.file}`;
  for (const batch of unsettled(target, at).filter(({ state }) => state === "accepted"))
    try {
      await settleBatches([batch], at, (done, total) => onProgress({ step, done, total }));
    } catch (error) {
      // The service no longer has the import.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
}
