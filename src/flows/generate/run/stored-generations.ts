import type { StoredBatch } from "../../../state/batches.ts";
import type { State } from "../../../state/state.ts";
import { type Generation, placeKey } from "../generation.ts";

/** A generation that was sent: its task once the service accepted it. */
export interface SentGeneration {
  readonly generation: Generation;
  /** Null while the outcome is unknown, or where only the user knows that it was queued. */
  readonly taskId: string | null;
}

export const packGenerations = (batch: readonly Generation[]): Uint8Array =>
  Buffer.from(JSON.stringify(batch));

/** The generations of a stored batch, in the order of its request. */
export const generationsOfBatch = (
  state: State,
  { run, index }: Pick<StoredBatch, "run" | "index">,
): Generation[] => JSON.parse(Buffer.from(state.batches.memo(run, index)).toString()) as Generation[];

/** Everything that a run has sent, with the tasks, by place. */
export function sentGenerations(state: State, runId: string): Map<string, SentGeneration> {
  const sent = new Map<string, SentGeneration>();
  for (const batch of state.batches.of(runId)) {
    for (const [at, generation] of generationsOfBatch(state, batch).entries())
      sent.set(placeKey(generation), { generation, taskId: batch.jobs[at] ?? null });
  }
  return sent;
}
