import type { Import } from "../../contract/resources/import.ts";
import type { Run } from "../../state/runs.ts";
import { RowSet } from "../rows/row-set.ts";
import type { RunAtHand } from "../run/run.ts";
import { changeFailedRows } from "./fields/change-failed-rows.ts";
import { HeldPhotos } from "./ledger/held-photos.ts";
import { settleBatches } from "./results/settle-batches.ts";
import { sendImportsAgain } from "./resume/send-imports-again.ts";
import type { ImportJob } from "./run/import-job.ts";
import { RowsToImport } from "./run/rows-to-import.ts";
import type { SendOptions } from "./send/import-operation.ts";

/**
 * Ends a run that is not resumed: waits for the outcome of everything it sent, so that the ledger is complete
 * before the next run starts. Throws the error that stopped it; the run then stays open.
 */
export async function endEarlierRun(
  begun: Run,
  run: RunAtHand,
  { input, service, reporter }: ImportJob,
): Promise<void> {
  const { state } = run;
  await sendImportsAgain(run, { run: begun, batches: state.batches.of(begun.id) }, service);
  const batches = state.batches.of(begun.id);
  const imports = new Map<string, Import>();
  await settleBatches(
    batches.filter(({ state }) => state === "accepted"),
    run,
    service,
    {
      onProgress: (done, total) =>
        reporter.onProgress({ step: "waiting for the earlier import", done, total }),
      onEnded: (one) => imports.set(one.id, one),
    },
  );
  // With --no-wait, no other step would change the fields of rows whose photos fail every time.
  const resumed = { run, earlier: batches, patched: state.batches.doneRows(begun.id), patching: [] };
  const rows = new RowsToImport({
    input,
    refused: new RowSet(),
    resumed,
    held: new HeldPhotos(),
    uploads: new Map(),
  });
  const sent = batches.flatMap((batch) =>
    batch.state === "sent" ? [] : [{ ...batch, kind: "accepted" as const }],
  );
  const latest = (id: string) => imports.get(id);
  const { onImageError } = begun.options as unknown as SendOptions;
  const { stopped } = await changeFailedRows({ onImageError, rows, sent, latest }, run, service, reporter);
  if (stopped !== undefined) throw stopped;
  state.runs.end(begun.id, service.clock.now());
}
