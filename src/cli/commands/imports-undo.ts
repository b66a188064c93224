import { type Command, Option } from "commander";
import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { importKind } from "../../flows/import/import-input.ts";
import type { UndoEstimate, UndoSummary } from "../../flows/import/undo/undo.ts";
import type { UndoneProduct } from "../../flows/import/undo/undo-product.ts";
import { type UndoPart, undoParts } from "../../flows/import/undo/undo-product.ts";
import { shownTime } from "../../flows/run/clocks.ts";
import type { Memory } from "../../flows/run/run.ts";
import { aboutTime } from "../../flows/run/writes.ts";
import { counted, grouped, shownName } from "../../flows/words.ts";
import type { StoredRun } from "../../state/runs.ts";
import type { App } from "../app/app.ts";
import { confirmAction, noteSummary } from "../app/confirm-action.ts";
import { openToRead, rejectMissingLedger } from "../app/profile-state.ts";
import { canAsk } from "../app/prompts.ts";
import { defaultConcurrency, runFlow } from "../app/run-flow.ts";
import { PartialError, UsageError } from "../context/errors.ts";
import { command } from "../flags/command.ts";
import { named, wholeNumber } from "../flags/values.ts";
import { flagLine } from "../output/command-words.ts";
import { type Column, whole } from "../output/table.ts";
import { openImportMemory } from "./import/remembered.ts";

interface UndoFlags {
  readonly plan: boolean;
  readonly only?: UndoPart;
  readonly withGenerations: boolean;
  readonly ledger?: string;
  readonly concurrency: number;
}

/** `cat imports undo RUN` */
export const undoCommand = (app: App): Command =>
  command("undo", {
    usage: "RUN [flags]",
    summary: "take back what an import changed",
    about:
      "Delete the products that an import created, set fields back that it changed, and detach photos that it added.\n\n" +
      "What was changed since is kept, and listed with the reason. Webhooks that were sent and credits that were spent stay as they are.\n\n" +
      "RUN is the run_id of an import, the ID of one of its imports, or last. If an undo stops, run the same command again to resume it.",
    examples: [
      ["show what undoing the last import would do", "cat imports undo last --plan"],
      ["undo it", "cat imports undo last"],
      ["set back the fields only", "cat imports undo last --only fields"],
    ],
  })
    .argument("[RUN]", "run ID, import ID, or last; without it a terminal asks about the last import")
    .option("--plan", "show what would be undone, by reading alone", false)
    .addOption(new Option("--only <PART>", "undo only this part").choices(undoParts))
    .option("--with-generations", "delete created products even if images were generated of them", false)
    .option("--ledger <FILE>", "ledger of the import (default: kept in the profile)")
    .option(
      "--concurrency <N>",
      "number of requests in flight",
      wholeNumber({ min: 1, max: 16 }),
      defaultConcurrency,
    )
    .action((run: string | undefined, flags: UndoFlags) => undo(app, run, flags));

async function undo(app: App, typed: string | undefined, flags: UndoFlags): Promise<void> {
  const { plan: isPlan, only = null, withGenerations, concurrency } = flags;
  named("RUN", typed, "Use the run_id of an import, the ID of an import, or last.");
  named("--ledger", flags.ledger, "Choose a file.");
  const isAsked = typed === undefined && canAsk(app) && !app.globals.yes;
  if (typed === undefined && !isAsked) throw await withoutRun(app, flags.ledger);
  await begin(app, flags, typed);
  const { undoImport } = await import("../../flows/import/undo/undo.ts");
  await rejectMissingLedger(app, flags.ledger);
  const memory = await openImportMemory(app, flags.ledger);
  const target =
    typed === undefined ? await proposeLast(app, memory, flags.ledger) : findRunId(typed, memory);
  const input = { target, only, withGenerations, isPlan, concurrency };
  const { summary, estimate, stopped } = await runFlow(app, ({ pause, ...host }) =>
    undoImport(input, {
      ...host,
      memory: async () => memory,
      confirm: async (estimate) => {
        for (const line of aheadLines(estimate)) await app.io.note(app.io.visible(line));
        const what = `undo the import of ${shownName(estimate.file)}`;
        await confirmAction(
          app,
          {
            question: `${what[0]!.toUpperCase()}${what.slice(1)}?`,
            reason: `to ${what}, a confirmation is needed`,
            left: "nothing was undone",
          },
          pause,
        );
      },
    }),
  );
  app.runs.counted(summary);
  app.runs.changed(memory.state, summary.undoes);
  if (app.io.json) await app.io.jsonData({ ...summary, ...(isPlan && { plan: true }) });
  else {
    const { products } = summary;
    if (products.length > 0) await app.io.show({ columns, format: "table" }, products);
    if (isPlan) for (const line of aheadLines(estimate)) await app.io.note(app.io.visible(line));
    await noteSummary(app, summaryLines(summary, isPlan, stopped !== undefined));
  }
  if (stopped !== undefined) throw stopped;
  const { undone, total, unresolved, file } = summary;
  if (!isPlan && undone < total + unresolved) {
    const unknown = unresolved === 0 ? "" : `, and ${counted(unresolved, "row")} without a result`;
    const products = `${grouped(total - undone)} of ${counted(total, "product")} of ${shownName(file)}`;
    throw new PartialError(`${products} not undone${unknown}`);
  }
}

async function begin({ runs }: App, { plan }: UndoFlags, run = "last"): Promise<void> {
  if (!plan) await runs.begin("undo", run);
}

/** The error of a command without RUN, which proposes the last import. */
async function withoutRun(app: App, ledger: string | undefined): Promise<UsageError> {
  const { runList } = await openToRead(app, ledger);
  const flags = ledger === undefined ? {} : { ledger };
  const list = flagLine(["runs", "list"], flags, app.globals);
  for (const run of runList.all()) {
    const { kind, file, startedAt } = run;
    // Runs that are in a ledger are not in this state.
    if (kind !== importKind || run.ledger !== null) continue;
    const last = flagLine(["imports", "undo", "last"], { ...flags, plan: true }, app.globals);
    return new UsageError("missing argument: RUN", {
      code: "missing_argument",
      param: "RUN",
      hint: `To see what undoing the last import (${shownName(file)}, ${shownTime(startedAt)}) would do: ${last}. For other runs: ${list}`,
    });
  }
  return new UsageError("missing argument: RUN", {
    code: "missing_argument",
    param: "RUN",
    hint: `No import can be undone from here. For all runs: ${list}`,
  });
}

function findLast({ state, service }: Memory): StoredRun | undefined {
  const account = state.accounts.find(service.baseUrl, service.keyFingerprint);
  const runs = state.runs.ofKind(importKind).filter((run) => run.account === account);
  // Also one that changed nothing: another import than the user means would be undone.
  return runs.sort((a, b) => b.startedAt - a.startedAt)[0];
}

/** The last import, for the question that follows. */
async function proposeLast(app: App, memory: Memory, ledger: string | undefined): Promise<string> {
  const last = findLast(memory);
  if (last === undefined) throw await withoutRun(app, ledger);
  const { id, file, startedAt } = last;
  await app.io.note(
    app.io.visible(`The last import is of ${shownName(file)}, started at ${shownTime(startedAt)} (${id}).`),
  );
  return id;
}

/** The run that the user means. Throws a CatError if there is none. */
function findRunId(typed: string, memory: Memory): string {
  const { sentJobs, service } = memory;
  if (typed !== "last") return sentJobs.find(typed)?.runId ?? typed;
  const last = findLast(memory);
  if (last !== undefined) return last.id;
  throw new CatError(`no import to ${service.baseUrl} can be undone from this machine`, {
    type: "not_found",
    code: "run_not_found",
    hint: "Imports of the last 30 days can be undone where they ran. For a ledger of its own, add --ledger FILE.",
  });
}

/** The most that an undo does, how long it takes, and what it cannot undo. */
function aheadLines(estimate: UndoEstimate): string[] {
  const { file, products, created, fields, photos, attached, writes, unresolved } = estimate;
  const parts = [
    created > 0 && `${counted(created, "product")} to delete`,
    fields > 0 && `${counted(fields, "product")} to set back`,
    photos > 0 && `${counted(photos, "photo")} to detach`,
    attached > 0 && `${counted(attached, "photo")} to attach again`,
  ].filter((part) => part !== false);
  const what =
    parts.length === 0
      ? "nothing to undo"
      : `${parts.join(", ")} (at most ${counted(writes, "request")}, ${aboutTime(writes, limits.writesPerMinute)})`;
  const lines = [`The import of ${shownName(file)} changed ${counted(products, "product")}: ${what}.`];
  if (unresolved > 0)
    lines.push(
      `${counted(unresolved, "row")} without results yet: these are found out first, for which a batch may be sent again.`,
    );
  lines.push("Webhooks that were sent and credits that were spent are not undone.");
  return lines;
}

function summaryLines(summary: UndoSummary, isPlan: boolean, isStopped: boolean): string[] {
  const { file, total, undone, kept, failed, unresolved } = summary;
  const done = partsDone(summary);
  const what = done.length === 0 ? "" : `: ${done.join(", ")}`;
  const of = `${grouped(undone)} of ${counted(total, "product")} of ${shownName(file)}`;
  const isDone = done.length === 0 && undone === total && unresolved === 0 && !isStopped;
  if (isDone) return [`Nothing to undo: ${of} are as before the import.`];
  const lines = [
    isPlan
      ? `Undo plan: ${of} can be undone${what}. Nothing was sent.`
      : `${isStopped ? "Stopped: undone" : "Undone:"} ${of}${what}.`,
  ];
  if (kept > 0) lines.push(`  ${counted(kept, "product")} kept`);
  if (failed > 0) lines.push(`  ${counted(failed, "product")} failed`);
  if (unresolved > 0)
    lines.push(
      `  ${counted(unresolved, "row")} without a result: what they created is not known, and is kept`,
    );
  if (isStopped) lines.push("To resume, run the same command again.");
  return lines;
}

const partsDone = ({ deleted, set_back, detached, attached }: UndoSummary): string[] =>
  [
    deleted > 0 && `${counted(deleted, "product")} deleted`,
    set_back > 0 && `${counted(set_back, "product")} set back`,
    detached > 0 && `${counted(detached, "photo")} detached`,
    attached > 0 && `${counted(attached, "photo")} attached again`,
  ].filter((part) => part !== false);

const columns: readonly Column<UndoneProduct>[] = [
  { name: "reference", value: ({ reference }) => reference },
  { name: "result", value: ({ result }) => result, least: whole },
  { name: "reason", value: ({ reasons }) => reasons.join("; ") },
];
