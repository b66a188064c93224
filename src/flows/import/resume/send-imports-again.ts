import { sendAsTheyWere } from "../../batches/send-again.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { importOperation, type SendOptions } from "../send/import-operation.ts";
import type { OtherRun } from "./other-runs.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** Sends batches of unknown outcome of an import, with the options that it had (`sendAsTheyWere`). */
export function sendImportsAgain(
  at: RunAtHand,
  { run, calls }: OtherRun,
  concurrency: number,
  deps: TakeUpDeps,
): Promise<void> {
  const options = run.options as unknown as SendOptions;
  return sendAsTheyWere(
    { ...at, id: run.id },
    calls,
    { ...deps, concurrency },
    {
      operation: importOperation(deps.client, options),
      listedAs: { file: run.file, variant: options.mode },
    },
  );
}
