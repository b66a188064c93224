import type { Client } from "../../../client/client.ts";
import { CatError } from "../../../errors.ts";
import { readGenerations } from "../../../flows/generate/columns/generation-form.ts";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import { findKnown, unknownLooks } from "../../../flows/generate/find-known.ts";
import {
  type AskedGeneration,
  type AskedRows,
  type Generation,
  placeKey,
  sentGenerations,
} from "../../../flows/generate/generation.ts";
import {
  type GenerationRows,
  hasBegun,
  identityOf,
  lookRule,
} from "../../../flows/generate/generation-run.ts";
import { countKnown } from "../../../flows/generate/known-looks.ts";
import { cutGenerations, rejectTooMany, withUnresolved } from "../../../flows/generate/plan.ts";
import { type ResolvedGenerations, resolveGenerations } from "../../../flows/generate/resolve.ts";
import { type CheckResult, checkFile } from "../../../flows/rows/check.ts";
import type { RowFile } from "../../../flows/rows/open-rows.ts";
import type { InputProblem } from "../../../flows/rows/problem.ts";
import { findAccount } from "../../../flows/run/account.ts";
import { lastBegun } from "../../../flows/run/run.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { memoryOfProfile } from "../../app/profile-state.ts";
import { defaultConcurrency } from "../../app/run-flow.ts";
import { checkOutputNames } from "../../files/output-targets.ts";
import { outputFormat } from "../../output/output-names.ts";
import { namedProblem, problemsForPeople } from "../../output/problem-list.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import type { GenerateFlags } from "./flags.ts";
import { mismatchNotes } from "./mismatched-models.ts";
import { inputRejected } from "./run-errors.ts";
import { noteJson, noteLines, unlistedNotes } from "./unlisted-values.ts";

/** Checks the input and shows its plan. With an API key it also looks up products and models. */
export async function dryRun(
  app: App,
  flags: GenerateFlags,
  input: GenerationRows,
  foundProblems: FoundProblems | null,
): Promise<void> {
  const { file } = input;
  checkOutputNames({ ...flags, file: flags.input }, file.source);
  if (flags.gallery !== undefined) outputFormat("--gallery", flags.gallery, ["html"]);
  const checked = await checkInput(app, flags, input);
  const { check, problems, valid, there } = checked;
  if (foundProblems !== null) {
    const { total, valid: rows, invalid } = check;
    foundProblems.counts = { total, valid: rows, invalid, generations: valid.length };
    for (const problem of problems) foundProblems.add(file.source, problem);
  }
  await printFindings(app, flags, file, checked);
  if (check.unusable || check.invalid > 0) throw inputRejected(flags, check);
  const { existing = 0, inProgress = 0 } = there ?? {};
  const { maxGenerations } = flags;
  rejectTooMany({ remaining: valid.length, there: existing + inProgress }, { file, maxGenerations });
  if (app.io.json) return;
  const { columns, rows } = toPlan(flags, valid);
  await app.io.show({ columns, format: "table" }, rows);
  await app.io.note(app.io.visible(summaryOf(shownName(file.source.name), checked)));
}

type CheckedInput = Awaited<ReturnType<typeof checkInput>>;

/** The check of the input, with the service and this machine. */
async function checkInput(app: App, flags: GenerateFlags, input: GenerationRows) {
  const { file, replacing } = input;
  const problems: InputProblem[] = [];
  const { random, interrupt } = app.context;
  const { check: checked, rejectedRows } = await checkFile(file, {
    random,
    signal: interrupt,
    onProblem: (problem) => void problems.push(problem),
  });
  const { asked, table, isExpanded } = checked.unusable
    ? { asked: [], table: null, isExpanded: false }
    : await readGenerations(file, rejectedRows, { ...flags, replacing });
  const resolved = await lookUp(app, flags, { asked, table });
  problems.push(...(resolved?.problems ?? []).map((problem) => namedProblem(app.io, problem)));
  const unresolved = resolved?.unresolved ?? new Map();
  const there = resolved && (await findThere(app, flags, { ...input, isExpanded, ...resolved }));
  const places = there && new Set(there.remaining.map(placeKey));
  const valid = asked.filter(
    (generation) => !unresolved.has(generation.line) && places?.has(placeKey(generation)) !== false,
  );
  const check = checked.unusable
    ? { ...checked, invalid: checked.total, valid: 0 }
    : withUnresolved(checked, unresolved);
  problems.sort((a, b) => a.line - b.line);
  return { check, problems, valid, there, resolved, table };
}

/** Prints the problems and notes, or the object of `--json`. */
async function printFindings(
  app: App,
  flags: GenerateFlags,
  file: RowFile,
  { check, problems, valid, there, resolved, table }: CheckedInput,
): Promise<void> {
  const { io } = app;
  const unlisted = await unlistedNotes(app, flags, valid, table);
  const asks = new Set(valid.map(placeKey));
  const found = resolved?.generations.filter((one) => asks.has(placeKey(one))) ?? [];
  const mismatches = mismatchNotes(found, table);
  if (io.json) {
    const notes = [...(check.notes ?? []), ...[...unlisted, ...mismatches].map(noteJson)];
    return io.jsonData({
      ...planJson(file, check, { asked: valid, problems }),
      ...(there !== null && { unchanged: there.existing + there.inProgress }),
      ...(there !== null && flags.missing && { existing: there.existing, in_progress: there.inProgress }),
      ...(there !== null && there.unknown > 0 && { existing_unknown: there.unknown }),
      ...(notes.length > 0 && { notes }),
    });
  }
  const { fields } = generationVocabulary(flags.kind);
  const list = problemsForPeople(file.source.name, app, { listsAll: "--json", fields });
  for (const problem of problems) await list.add(problem);
  await list.end(check);
  const lines = [
    ...noteLines(flags, unlisted),
    ...mismatches.map(({ message }) => `${message}.`),
    ...(there?.sentences ?? []),
  ];
  for (const line of lines) await io.note(io.visible(line));
}

function summaryOf(name: string, { check, valid, there, resolved }: CheckedInput): string {
  const { existing = 0, inProgress = 0 } = there ?? {};
  const { left = 0 } = check;
  const more = valid.length === 0 ? "image" : "more image";
  const others = [
    ...(existing > 0 ? [` ${counted(existing, more)} ${existing === 1 ? "exists" : "exist"}.`] : []),
    ...(inProgress > 0 ? [` ${counted(inProgress, more)} in progress.`] : []),
    ...(left > 0 ? [` ${counted(left, "row")} left (--limit).`] : []),
  ].join("");
  const checks = resolved !== null ? "" : " Products and models were not checked: no service URL or API key.";
  const requests = counted(countBatches(valid), "request");
  return `${name}: ${counted(valid.length, "image")} in ${requests}.${others} Nothing was queued (--dry-run).${checks}`;
}

const countBatches = (asked: readonly AskedGeneration[]): number =>
  cutGenerations(asked.map(asGeneration)).length;

const planJson = (
  { source }: RowFile,
  { total, valid, invalid, left }: CheckResult,
  { asked, problems }: { asked: readonly AskedGeneration[]; problems: readonly InputProblem[] },
) => ({
  file: source.name,
  total,
  valid,
  invalid,
  generations: asked.length,
  batches: countBatches(asked),
  ...(left !== undefined && { left }),
  problems: problems.map(noteJson),
});

/** Looks up products and models; null without a service URL or API key. */
async function lookUp(
  app: App,
  { allowDuplicates }: GenerateFlags,
  { asked, table }: AskedRows,
): Promise<ResolvedGenerations | null> {
  if (asked.length === 0) return { generations: [], problems: [], unresolved: new Map() };
  let client: Client;
  try {
    await app.connection();
    client = await app.client();
  } catch (error) {
    // A file can be checked before there is an account.
    if (error instanceof CatError && (error.type === "usage" || error.code === "missing_api_key"))
      return null;
    throw error;
  }
  const service = { client, signal: app.context.interrupt, concurrency: defaultConcurrency };
  return resolveGenerations(asked, service, { allowDuplicates, table, onProgress: () => {} });
}

/** The images that the run would generate, and the number of others, as it decides itself. */
async function findThere(
  app: App,
  flags: GenerateFlags,
  input: GenerationRows & {
    readonly isExpanded: boolean;
    readonly generations: readonly Generation[];
  },
) {
  const { kind, fresh, missing } = flags;
  const { state, service } = await memoryOfProfile(app);
  const { clock, interrupt: signal } = app.context;
  const client = await app.client();
  const onNote = (sentence: string) => void app.io.note(app.io.visible(sentence));
  // A new key may be of the organization of an earlier one.
  const account = await findAccount({ client, state, service, sameOrganization: null, onNote, signal });
  const ofInput = { account, kind, identity: identityOf(input, input.isExpanded) };
  const last = fresh ? null : state.runs.findOpen(ofInput);
  const passed = missing ? null : lastBegun(last, state, hasBegun);
  const open = passed === null ? last : null;
  const ended = fresh || missing || open !== null ? null : (passed ?? state.runs.findEnded(ofInput));
  const { id, options } = open ?? ended ?? { id: "", options: { ...(fresh && { fresh: "yes" }) } };
  const sent = sentGenerations(state, id);
  const unsent = input.generations.filter((generation) => !sent.has(placeKey(generation)));
  const searched = { client, clock, signal, concurrency: defaultConcurrency, state, service, account, kind };
  // An image that `--missing` has found elsewhere exists for a command without it, too.
  const isMissing = missing || ended?.options.missing === "yes";
  const rule = lookRule({ ...flags, missing: isMissing, review: null }, { options, state, id });
  const { known, remaining } = await findKnown(unsent, searched, rule);
  const { inProgress, unknown } = countKnown(known);
  // A run that has ended queues nothing, also not for images that were rejected since.
  const left = ended === null ? remaining : [];
  return {
    remaining: left,
    existing: input.generations.length - left.length - inProgress,
    inProgress,
    unknown,
    sentences: unknownLooks(known, { ...flags, ...input }),
  };
}

/** As far as names tell: for how many requests it takes. */
const asGeneration = ({ productId, productReference, model, ...one }: AskedGeneration) => ({
  ...one,
  productId: productId ?? productReference!,
  productReference,
  modelId: model,
  modelName: model,
});

/** How many images for each model (or subtype), background and angle. */
function toPlan({ kind }: GenerateFlags, asked: readonly AskedGeneration[]) {
  type Row = { cells: readonly string[]; images: number };
  const rows = new Map<string, Row>();
  for (const { model, subtype, background, angleShot } of asked) {
    const cells = [(kind === "tryon" ? model : subtype) ?? "", background, angleShot];
    const key = JSON.stringify(cells);
    rows.set(key, { cells, images: (rows.get(key)?.images ?? 0) + 1 });
  }
  const names = [kind === "tryon" ? "model" : "subtype", "background", "angle_shot"];
  return {
    rows: rows.values(),
    columns: [
      ...names.map((name, index) => ({ name, value: ({ cells }: Row) => cells[index] })),
      { name: "images", value: ({ images }: Row) => grouped(images) },
    ],
  };
}
