import type { Import } from "../../contract/resources/import.ts";
import type { Run } from "../../state/runs.ts";
import { RowSet } from "../rows/row-set.ts";
import type { RunAtHand } from "../runs/run-at-hand.ts";
import { changeFailedRows } from "./fields/change-failed-rows.ts";
import { settleBatches } from "./results/settle-batches.ts";
import { sendImportsAgain } from "./resume/send-imports-again.ts";
import type { ImportJob } from "./run/import-job.ts";
import { RowsToBringIn } from "./run/rows-to-bring-in.ts";

/**
 * Ends a run that is not resumed: learns the outcome of everything that was sent, so that the next run begins with a ledger
 * that knows it. Throws what stopped it; the run is then still open.
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
      onProgress: (done, total) => reporter.onProgress({ step: "waiting for the earlier run", done, total }),
      onEnded: (one) => imports.set(one.id, one),
    },
  );
  // Else nothing would change the fields of rows whose photos fail each time, where nobody ever waits.
  const taken = { run, earlier: batches, patched: state.batches.doneRows(begun.id), patching: [] };
  const rows = new RowsToBringIn({ input, refused: new RowSet(), taken, uploads: new Map() });
  const sent = batches.flatMap((batch) =>
    batch.state === "sent" ? [] : [{ ...batch, kind: "accepted" as const }],
  );
  const latest = (id: string) => imports.get(id);
  const { stopped } = await changeFailedRows({ rows, sent, latest }, run, service, reporter);
  if (stopped !== undefined) throw stopped;
  state.runs.end(begun.id, service.clock.now());
}
