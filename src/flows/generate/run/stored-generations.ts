import type { GenerationKind } from "../../../contract/generation-rules.ts";
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

/** The generations of this machine by task ID, of any run of these kinds. Each batch is read when a task of it is asked for. */
export function generationsByTask(
  state: State,
  kinds: readonly GenerationKind[],
): (taskId: string) => Generation | undefined {
  const batchOf = new Map<string, Pick<StoredBatch, "run" | "index" | "jobs">>();
  for (const kind of kinds)
    for (const batch of state.batches.withJobs(kind)) for (const id of batch.jobs) batchOf.set(id, batch);
  const read = new Map<object, Generation[]>();
  return (taskId) => {
    const batch = batchOf.get(taskId);
    if (batch === undefined) return undefined;
    const generations = read.get(batch) ?? generationsOfBatch(state, batch);
    read.set(batch, generations);
    return generations[batch.jobs.indexOf(taskId)];
  };
}

/** Everything that a run has sent, with the tasks, by place. */
export function sentGenerations(state: State, runId: string): Map<string, SentGeneration> {
  const sent = new Map<string, SentGeneration>();
  for (const batch of state.batches.of(runId)) {
    for (const [at, generation] of generationsOfBatch(state, batch).entries())
      sent.set(placeKey(generation), { generation, taskId: batch.jobs[at] ?? null });
  }
  return sent;
}
