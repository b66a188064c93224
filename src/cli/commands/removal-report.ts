import { CatError } from "../../errors.ts";
import { counted, grouped, listFirst, shownName } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { noteSummary } from "../app/confirm-action.ts";
import { PartialError, withHint } from "../context/errors.ts";
import { namedProblem } from "../output/problem-list.ts";
import { type Column, whole } from "../output/table.ts";
import type { RemovalFlags } from "./removal-flags.ts";
import type { RemovalEntry, RemovalKind, RemovalOutcome } from "./removal-kinds.ts";

export const mostNamedEntries = 20;

export const entryName = ({ product: { id, reference, name }, imageId }: RemovalEntry): string =>
  imageId === null ? `${reference ?? id} (${name})` : `${imageId} of ${reference ?? id}`;

const again = "To resume, run the same command again.";

/** Prints the results of a file. Throws what stopped it, or why not all is removed. */
export async function reportRemoval(
  app: App,
  outcome: RemovalOutcome,
  { file, dryRun }: RemovalFlags,
  kind: RemovalKind,
): Promise<void> {
  const { entries, problems, stopped } = outcome;
  const { done, thing } = kind;
  const count = (result: string) => entries.filter((entry) => toResult(entry, done) === result).length;
  const total = entries.length + problems.length;
  const counts = {
    [done]: count(done),
    gone: count("gone"),
    kept: count("kept"),
    remaining: count("remaining"),
  };
  app.runs.counted({ run_id: outcome.runId, total, ...counts, not_found: problems.length });
  const of = `${counted(total, thing)} of ${shownName(file)}`;
  if (app.io.json) {
    await app.io.jsonData({
      file,
      dry_run: dryRun,
      total,
      ...counts,
      not_found: problems.length,
      [`${thing}s`]: entries.map((entry) => toRow(entry, done)),
      problems: problems.map((problem) => namedProblem(app.io, problem)),
    });
  } else {
    const shown = entries.filter((entry) => dryRun || toResult(entry, done) === "kept");
    const rows = shown.map((entry) => toRow(entry, done));
    if (rows.length > 0) await app.io.show({ columns: columnsOf(thing), format: "table" }, rows);
    await noteSummary(app, summaryLines(outcome, counts, { of, dryRun }, kind));
  }
  if (stopped !== undefined)
    throw dryRun || !(stopped instanceof CatError) ? stopped : withHint(stopped, joined(stopped.hint, again));
  if (counts.kept > 0) throw new PartialError(`${grouped(counts.kept)} of ${of} kept`);
  if (problems.length > 0)
    throw new CatError(`${grouped(problems.length)} of ${of} not found`, {
      type: "not_found",
      code: problems[0]!.code,
      hint: `They may be ${done} already. If not, fix the lines above.`,
    });
}

const joined = (hint: string | undefined, next: string): string =>
  hint === undefined ? next : `${hint} ${next}`;

function summaryLines(
  { entries, problems }: RemovalOutcome,
  { kept, gone, remaining, ...counts }: Readonly<Record<string, number>>,
  { of, dryRun }: { of: string; dryRun: boolean },
  { done, thing, verb }: RemovalKind,
): string[] {
  const removed = counts[done]!;
  const isStopped = remaining! > 0 && !dryRun;
  const names = listFirst(
    entries.filter((entry) => toResult(entry, done) === done).map(entryName),
    mostNamedEntries,
  );
  const lines = [
    dryRun
      ? `Would ${verb} ${grouped(remaining!)} of ${of}. Nothing was sent.`
      : isStopped && removed > 0
        ? `Stopped: ${done} ${grouped(removed)} of ${of}: ${names}.`
        : `${isStopped ? "Stopped: " : ""}${isStopped ? done : capitalized(done)} ${grouped(removed)} of ${of}.`,
  ];
  if (gone! > 0) lines.push(`  ${counted(gone!, thing)} already ${done} by another client`);
  if (kept! > 0) lines.push(`  ${counted(kept!, thing)} kept, with the reason above`);
  if (problems.length > 0) lines.push(`  ${counted(problems.length, thing)} not found, listed above`);
  if (isStopped) lines.push(`  ${counted(remaining!, thing)} remaining`);
  return lines;
}

const capitalized = (word: string): string => `${word[0]!.toUpperCase()}${word.slice(1)}`;

const toResult = ({ removed }: RemovalEntry, done: RemovalKind["done"]): string =>
  removed === null ? "remaining" : removed.result === "removed" ? done : removed.result;

interface Row {
  readonly line: number;
  readonly id?: string;
  readonly product_id?: string;
  readonly reference: string | null;
  readonly name?: string;
  readonly image_id?: string;
  readonly result: string;
  readonly reason?: string;
}

function toRow(entry: RemovalEntry, done: RemovalKind["done"]): Row {
  const { named, product, imageId, removed } = entry;
  const { id, reference, name } = product;
  return {
    line: named.line,
    ...named.place,
    ...(imageId === null ? { id, reference, name } : { product_id: id, reference, image_id: imageId }),
    result: toResult(entry, done),
    ...(removed?.reason !== undefined && { reason: removed.reason }),
  };
}

const columnsOf = (thing: RemovalKind["thing"]): readonly Column<Row>[] => [
  { name: "line", value: ({ line }) => line, least: whole },
  { name: "reference", value: ({ reference, id, product_id }) => reference ?? id ?? product_id },
  thing === "product"
    ? { name: "name", value: ({ name }) => name }
    : { name: "image_id", value: ({ image_id }) => image_id, least: whole },
  { name: "result", value: ({ result }) => result, least: whole },
  { name: "reason", value: ({ reason }) => reason ?? "" },
];
