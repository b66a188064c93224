import type { GenerationKind } from "../../contract/generation-rules.ts";
import { parseJson } from "../../json.ts";
import type { BatchJobs, StoredBatch } from "../../state/batches.ts";
import type { LookSettings } from "../../state/looks.ts";
import type { State } from "../../state/state.ts";
import type { TableReader } from "../rows/table-rows.ts";

/** The settings of an image that an input and the service call the same. */
interface Look extends Omit<LookSettings, "productId" | "modelId" | "stylings"> {
  readonly kind: GenerationKind;
  /** The line of the input, from 1. */
  readonly line: number;
  /** The place among the combinations of its row, from 0; 0 without `--matrix`. */
  readonly combination: number;
  /** The task whose rejected image this one replaces (`--rerun`). */
  readonly replaces?: string;
}

/** One image to generate, with products and models as the input names them. */
export interface AskedGeneration extends Look {
  /** Both are set where a row names both; they must then be of one product. */
  readonly productId: string | null;
  readonly productReference: string | null;
  /** A model's ID or name; null for a beautifier. */
  readonly model: string | null;
  /** IDs or references. */
  readonly stylings: readonly string[];
}

/** The images of a file, in its order, without rows beyond its limit. */
export interface AskedRows {
  readonly asked: readonly AskedGeneration[];
  /** The columns and cells of a table; null for objects. */
  readonly table: TableReader | null;
}

export interface AskedOfFile extends AskedRows {
  /** Whether any row expands to several combinations, also beyond the limit. */
  readonly isExpanded: boolean;
}

/** One image to generate, by the IDs of the service. What is stored of it is this value as JSON. */
export interface Generation extends Look {
  readonly productId: string;
  /** Null for a product without a reference (Resources, Product). */
  readonly productReference: string | null;
  readonly modelId: string | null;
  readonly modelName: string | null;
  /** IDs. */
  readonly stylings: readonly string[];
  /** Set where they differ, for a note before the cost. */
  readonly sexes?: { readonly product: string; readonly model: string };
}

/** Where a generation is in its input: the same for as long as the input does not change. */
export type CombinationPlace = Pick<Look, "line" | "combination">;

export const placeKey = ({ line, combination }: CombinationPlace): string => `${line}.${combination}`;

/** Equal for two generations of the same image, whatever the order of stylings. */
export const contentKey = (generation: Omit<AskedGeneration, "line"> | Omit<Generation, "line">): string =>
  JSON.stringify([
    generation.productId,
    generation.productId === null ? generation.productReference : null,
    "model" in generation ? generation.model : generation.modelId,
    [...generation.stylings].sort(),
    generation.background.toLowerCase(),
    generation.angleShot,
    generation.lookAtCamera,
    generation.subtype,
    generation.style,
  ]);

/** The values of a `contentKey` for a message: `"DRESS-1", "model-anna", "loft", "half-front", true`. */
export const describeKey = (key: string): string =>
  (parseJson(key) as readonly unknown[])
    .filter((value) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map((value) => JSON.stringify(value))
    .join(", ");

/** The order of the input. */
export const byPlace = (a: CombinationPlace, b: CombinationPlace): number =>
  a.line - b.line || a.combination - b.combination;

/** A generation that was sent: its task once the service accepted it. */
export interface SentGeneration {
  readonly generation: Generation;
  /** Null while the outcome is unknown, or where only the user knows that it was queued. */
  readonly taskId: string | null;
}

export const packGenerations = (batch: readonly Generation[]): Uint8Array =>
  Buffer.from(JSON.stringify(batch));

/** Identifies a stored batch among those of all runs. */
export const batchKey = ({ run, index }: StoredBatch): string => `${run} ${index}`;

/** The generations of a stored batch, in the order of its request. */
export const loadGenerations = (
  state: State,
  { run, index }: Pick<StoredBatch, "run" | "index">,
): Generation[] => parseJson(Buffer.from(state.batches.memo(run, index)).toString()) as Generation[];

/** The generations of this machine by task ID, of runs of these kinds; read on demand. */
export function generationsByTask(
  state: State,
  kinds: readonly GenerationKind[],
): (taskId: string) => Generation | undefined {
  const find = sentByTask(state, kinds);
  return (taskId) => find(taskId)?.generation;
}

/** The same with their runs. */
export function sentByTask(
  state: State,
  kinds: readonly GenerationKind[],
): (taskId: string) => { readonly generation: Generation; readonly run: string } | undefined {
  const batchesByKey = new Map<string, BatchJobs>();
  for (const kind of kinds)
    for (const batch of state.batches.withJobs(kind))
      for (const id of batch.jobs) batchesByKey.set(id, batch);
  const read = new Map<object, Generation[]>();
  return (taskId) => {
    const batch = batchesByKey.get(taskId);
    if (batch === undefined) return undefined;
    const generations = read.get(batch) ?? loadGenerations(state, batch);
    read.set(batch, generations);
    return { generation: generations[batch.jobs.indexOf(taskId)]!, run: batch.run };
  };
}

/** Everything that a run has sent, with the tasks, by place. */
export function sentGenerations(state: State, runId: string): Map<string, SentGeneration> {
  const sent = new Map<string, SentGeneration>();
  for (const batch of state.batches.of(runId)) {
    for (const [at, generation] of loadGenerations(state, batch).entries())
      sent.set(placeKey(generation), { generation, taskId: batch.jobs[at] ?? null });
  }
  return sent;
}
