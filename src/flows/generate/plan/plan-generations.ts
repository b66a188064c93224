// Planning: what of the input is still to be queued, by the IDs of the service.

import type { CheckResult } from "../../rows/check.ts";
import { shownName } from "../../rows/shown-name.ts";
import { InputError } from "../../rows/source.ts";
import { shownTime } from "../../run/clocks.ts";
import type { Service } from "../../service.ts";
import { grouped } from "../../words.ts";
import { type AskedGeneration, type Generation, placeKey } from "../generation.ts";
import type { ClaimedRun } from "../resume/claim-run.ts";
import { settleExpired } from "../resume/doubtful-batches.ts";
import type { GenerateDeps, GenerateInput } from "../run/generate-input.ts";
import { type SentGeneration, sentGenerations } from "../run/stored-generations.ts";
import { type Resolved, resolveGenerations } from "./resolve.ts";

/** What a run has queued and what is left. */
export interface GenerationPlan extends Pick<Resolved, "problems" | "unresolved"> {
  /** What earlier commands have sent, by place. */
  readonly sent: Map<string, SentGeneration>;
  readonly remaining: readonly Generation[];
}

/** Rejects an input that asks for more than `--max-generations`, before the first request. */
export function rejectTooMany(
  asked: number,
  { file, maxGenerations }: Pick<GenerateInput, "file" | "maxGenerations">,
): void {
  if (maxGenerations === null || asked <= maxGenerations) return;
  const name = shownName(file.source.name);
  throw new InputError(
    `${name} requests ${grouped(asked)} images; the limit is ${grouped(maxGenerations)} (--max-generations). Nothing was queued`,
    "too_many_generations",
    "Remove values or rows, or raise --max-generations.",
  );
}

/** Plans what is left of a run, after settling batches of unknown outcome. Everything that an earlier command sent stays as it was. */
export async function planGenerations(
  asked: readonly AskedGeneration[],
  { run, isFinished, begunAt }: ClaimedRun,
  {
    input,
    service,
    deps,
  }: { input: GenerateInput; service: Service; deps: Pick<GenerateDeps, "ask" | "onNote" | "onProgress"> },
): Promise<GenerationPlan> {
  const { name } = input.file.source;
  await settleExpired(run, service, { file: name, choice: input.unknown, ask: deps.ask });
  const sent = sentGenerations(run.state, run.id);
  if (!isFinished && begunAt !== null && sent.size > 0) {
    const since = shownTime(begunAt);
    deps.onNote(
      `Resuming ${shownName(name)}, started at ${since}: ${grouped(sent.size)} of ${grouped(asked.length)} images already queued. To start over, add --fresh.`,
    );
  }
  const left = isFinished ? [] : asked.filter((one) => !sent.has(placeKey(one)));
  if (left.length === 0) return { sent, remaining: [], problems: [], unresolved: new Map() };
  const { generations, ...found } = await resolveGenerations(left, service, {
    allowDuplicates: input.allowDuplicates,
    onProgress: (done, total) => deps.onProgress({ step: "looking up products", done, total }),
  });
  return { sent, remaining: generations, ...found };
}

/** The counts of a check, with the rows that name what does not exist. */
export const withUnresolved = (check: CheckResult, unresolved: GenerationPlan["unresolved"]): CheckResult => {
  const invalid = check.invalid + unresolved.size;
  return { ...check, invalid, valid: check.total - invalid };
};
