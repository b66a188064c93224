import type { StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import type { RunAtHand } from "../../run/run.ts";
import { sendAsTheyWere } from "../../run/send.ts";
import type { Service } from "../../service.ts";
import { importOperation, listedAs, type SendOptions } from "../send/import-operation.ts";

/** Resends batches with an unknown outcome, with the options of their run (`sendAsTheyWere`). */
export function sendImportsAgain(
  at: RunAtHand,
  { run, batches }: { run: Run; batches: readonly StoredBatch[] },
  service: Service,
): Promise<void> {
  const options = run.options as unknown as SendOptions;
  return sendAsTheyWere({ ...at, id: run.id }, batches, {
    operation: importOperation(service.client, options),
    listedAs: listedAs(run.file, options.mode),
    changesProducts: true,
  });
}
