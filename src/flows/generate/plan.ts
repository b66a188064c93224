// Planning: what of the input is still to be queued, by the IDs of the service, and in which batches.

import { limits } from "../../contract/limits.ts";
import type { CheckResult } from "../rows/check.ts";
import { cellText } from "../rows/problem.ts";
import { InputError } from "../rows/source.ts";
import { shownTime } from "../run/clocks.ts";
import type { Run } from "../run/run.ts";
import { writeEstimate } from "../run/writes.ts";
import { counted, grouped, shownName } from "../words.ts";
import {
  type AskedGeneration,
  type AskedRows,
  byPlace,
  type Generation,
  placeKey,
  type SentGeneration,
  sentGenerations,
} from "./generation.ts";
import type { CostPlan, GenerateHost, GenerateInput, SaveFolder } from "./generation-run.ts";
import type { LookRule } from "./known-looks.ts";
import { type ResolvedGenerations, resolveGenerations } from "./resolve.ts";

export interface GenerationPlan extends Pick<ResolvedGenerations, "problems" | "unresolved"> {
  /** The generations that earlier commands have sent, by place. */
  readonly sent: Map<string, SentGeneration>;
  readonly remaining: readonly Generation[];
}

/** Rejects an input over `--max-generations`; `there` counts what costs nothing. */
export function rejectTooMany(
  { remaining, there }: { readonly remaining: number; readonly there: number },
  { file, maxGenerations }: Pick<GenerateInput, "file" | "maxGenerations">,
): void {
  if (maxGenerations === null || remaining <= maxGenerations) return;
  const name = shownName(file.source.name);
  throw new InputError(
    `${name} requests ${counted(remaining, there > 0 ? "more image" : "image")}; the limit is ${grouped(maxGenerations)} (--max-generations). Nothing was queued`,
    "too_many_generations",
    "Remove values or rows, or raise --max-generations.",
  );
}

/** Plans what remains of a run. Everything that an earlier command sent stays as it was. */
export async function planGenerations(
  { asked, table }: AskedRows,
  run: Run,
  { file, allowDuplicates }: GenerateInput,
  rule: LookRule,
  { onNote, onProgress }: GenerateHost,
): Promise<GenerationPlan> {
  const sent = sentGenerations(run.state, run.id);
  rejectOtherReading({ asked, table }, sent, file.source.name);
  if (!run.isFinished && run.begunAt !== null && sent.size > 0) {
    const since = shownTime(run.begunAt);
    const unconfirmed = [...sent.values()].filter(({ taskId }) => taskId === null).length;
    onNote(
      `Resuming ${shownName(file.source.name)}, started at ${since}: ${grouped(sent.size - unconfirmed)} of ${grouped(asked.length)} images already queued${unconfirmed === 0 ? "" : `, ${grouped(unconfirmed)} unconfirmed`}.${rule.isMissing ? "" : " To start over, add --fresh."}`,
    );
  }
  const unsent = asked.filter((generation) => !sent.has(placeKey(generation)));
  if (unsent.length === 0) return { sent, remaining: [], problems: [], unresolved: new Map() };
  const { generations, problems, unresolved } = await resolveGenerations(unsent, run, {
    allowDuplicates,
    table,
    onProgress: (done, total) => onProgress({ step: "looking up products", done, total }),
  });
  return { sent, remaining: generations, problems, unresolved };
}

/** Rejects a file of which an earlier command queued other images, because it mapped the values otherwise. */
function rejectOtherReading(
  { asked, table }: AskedRows,
  sent: ReadonlyMap<string, SentGeneration>,
  file: string,
): void {
  for (const generation of asked) {
    const before = sent.get(placeKey(generation))?.generation;
    if (before === undefined) continue;
    const different = looks.find(([field]) => generation[field] !== before[field]);
    if (different === undefined) continue;
    const [field, column] = different;
    const [now, then] = [generation, before].map((look) =>
      look[field] === null ? `no ${column}` : JSON.stringify(look[field]),
    );
    const cell = cellText(table?.placeOfField(generation.line, column) ?? {});
    const where = cell === null ? `:${generation.line}` : `: ${cell}`;
    throw new InputError(
      `${shownName(file)}${where} was queued with ${then}, and is now read as ${now}; nothing was queued`,
      "other_mapping",
      "Map columns and values as before (--map, --map-value), or add --fresh to generate all images again.",
    );
  }
}

/** The settings of each image that an input has by itself, and the columns. */
const looks = [
  ["background", "background"],
  ["angleShot", "angle_shot"],
  ["lookAtCamera", "look_at_camera"],
  ["subtype", "subtype"],
  ["style", "style"],
] as const;

/** The counts of a check, with the rows that name what does not exist. */
export const withUnresolved = (
  check: CheckResult,
  unresolved: ResolvedGenerations["unresolved"],
): CheckResult => {
  const invalid = check.invalid + unresolved.size;
  return { ...check, invalid, valid: check.total - invalid };
};

/** Leaves out the images that a later review has approved, unless the run has sent them already. */
export function stillRejected(
  asked: readonly AskedGeneration[],
  { state, service, id }: Run,
): readonly AskedGeneration[] {
  if (asked.every(({ replaces }) => replaces === undefined)) return asked;
  const sent = sentGenerations(state, id);
  return asked.filter(
    (generation) =>
      generation.replaces === undefined ||
      sent.has(placeKey(generation)) ||
      state.decisions.isRejected(service.baseUrl, generation.replaces),
  );
}

/**
 * Cuts generations into the batches of their requests, in the order in which they are sent. A beautifier
 * request takes one (Tasks). A try-on request takes 20, filled first-fit: each consistency group goes into
 * the first batch that has room for all of it. One of more than 20 fills batches of its own, and its rest
 * goes as a smaller group does.
 */
export function cutGenerations(generations: readonly Generation[]): Generation[][] {
  if (generations[0]?.kind !== "tryon") return generations.map((generation) => [generation]);
  const { max } = limits.tryonInputs;
  const batches: Generation[][] = [];
  for (const group of toGroups(generations)) {
    for (let at = 0; at < group.length; at += max) {
      const part = group.slice(at, at + max);
      const batch = batches.find(({ length }) => length + part.length <= max);
      if (batch === undefined) batches.push(part);
      else batch.push(...part);
    }
  }
  return batches.map((batch) => batch.toSorted(byPlace));
}

/** A batch in two, without splitting a consistency group unless it is the only one. */
export function halveGenerations(batch: readonly Generation[]): [Generation[], Generation[]] {
  const groups = [...toGroups(batch)];
  const parts = groups.length > 1 ? groups : batch.map((generation) => [generation]);
  const middle = parts.length >> 1;
  return [parts.slice(0, middle).flat().toSorted(byPlace), parts.slice(middle).flat().toSorted(byPlace)];
}

function toGroups(generations: readonly Generation[]): Iterable<Generation[]> {
  const groups = new Map<string, Generation[]>();
  for (const generation of generations) {
    const key = groupKey(generation);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [generation]);
    else group.push(generation);
  }
  return groups.values();
}

/** Inputs with the same key are dispatched as a consistency group (Tasks). */
export const groupKey = ({ modelId, productId, stylings }: Generation): string =>
  JSON.stringify([modelId, productId, stylings]);

export interface Agreement {
  /** The folder that the user has named; null if not asked. */
  readonly folder: SaveFolder | null;
  /** The time that the question was on the screen, in milliseconds. */
  readonly waitedMs: number;
}

/** Has the user agree to the generations of a plan, if there are any. Throws where they do not. */
export async function agree(plan: CostPlan, host: GenerateHost): Promise<Agreement> {
  const { generations } = plan;
  if (generations.length === 0) return { folder: null, waitedMs: 0 };
  noteEstimate(generations.length, cutGenerations(generations).length, host);
  const askedAt = host.clock.now();
  const folder = await host.confirm(plan);
  return { folder, waitedMs: host.clock.now() - askedAt };
}

/** Notes how long the queuing takes, where the rate limit makes it last. */
function noteEstimate(images: number, requests: number, { writesPerMinute, onNote }: GenerateHost): void {
  const time = writeEstimate(requests, writesPerMinute);
  if (time !== null) onNote(`${grouped(images)} images in ${grouped(requests)} requests: ${time}`);
}
