import type { Command } from "commander";
import { CatError } from "../../errors.ts";
import { durationText } from "../../flows/duration-text.ts";
import { importKind } from "../../flows/import/import-input.ts";
import { counted, countList, grouped } from "../../flows/words.ts";
import type { ListedRun } from "../../state/run-list.ts";
import type { App } from "../app/app.ts";
import { openToRead } from "../app/profile-state.ts";
import { command, group } from "../flags/command.ts";
import {
  type RawListFlags,
  type RawPrintFlags,
  type ResourceForm,
  readLimit,
  readPrintFlags,
  withListFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { timeSince } from "../flags/time-since.ts";
import { named } from "../flags/values.ts";
import { flagLine, typedLine, waiting } from "../output/command-words.ts";
import { type Printing, whole } from "../output/table.ts";
import { namedFields, namedForm } from "../resources/forms.ts";
import { FirstOnes, singly } from "../resources/list-resource.ts";

/** `cat runs`: every run of this machine, of all kinds. */
export const runsCommand = (app: App): Command =>
  group(
    "runs",
    "View the imports, undos, try-ons, beautified images, exports, mirrors and removals that were run on this machine.",
    [listCommand(app), getCommand(app)],
  );

interface LedgerFlag {
  readonly ledger?: string;
}

const withLedger = (made: Command): Command =>
  made.option("--ledger <FILE>", "view the runs of a ledger, of all machines that used it");

interface ListFlags extends RawListFlags, LedgerFlag {
  since?: ReturnType<typeof timeSince>;
}

const listCommand = (app: App): Command =>
  withLedger(
    withListFlags(
      command("list", {
        summary: "list the runs of this machine",
        about:
          "List the runs of the current profile, newest first: the file, who ran it and when, what was counted, " +
          "the exit status, and whether it was undone. A run of --plan, --dry-run or --mock is not one.\n\n" +
          "An unfinished run is resumed by its command: cat runs get RUN",
        examples: [
          ["list the last 25 runs", "cat runs list"],
          ["list all runs of the last week, failed ones first", "cat runs list --since 7d"],
          [
            "print the IDs of all unfinished runs",
            `cat runs list --all --json | jq -r 'select(.status=="unfinished").run_id'`,
          ],
          ["list the runs of a ledger of CI jobs", "cat runs list --ledger state/ledger.db"],
        ],
      }).option(
        "--since <TIME>",
        "all runs that started or ended since then, e.g. 7d or 2026-01-05 (UTC): failed ones first, then unfinished ones",
        timeSince,
      ),
    ),
  ).action(async (flags: ListFlags) => {
    const printing = readPrintFlags(flags, form);
    named("--ledger", flags.ledger, "Choose a file.");
    const { runList } = await openToRead(app, flags.ledger);
    if (flags.since !== undefined) {
      const since = flags.since(app.context.clock.now());
      return showSince(app, runList.all(since), { ...flags, since, printing });
    }
    const runs = new FirstOnes(singly(runList.all()), readLimit(flags));
    async function* rows() {
      for await (const page of runs) yield page.map((run) => toShown(run, app));
    }
    const count = await app.io.showPages(printing, rows());
    if (count === 0) {
      await app.io.note(app.globals.mock ? noneOfMock : "No runs on this machine yet.");
    } else if (runs.isMore) {
      await app.io.note(`Showing the newest ${grouped(count)}. To see more, add --limit N or --all.`);
    }
  });

const noneOfMock = "No runs: --mock loses its data after each command.";

/** The results of runs, in the order of a list since a time: those that need the user come first. */
const outcomes = ["failed", "unfinished", "unknown", "running", "succeeded"] as const;

function outcomeOf(run: ListedRun): (typeof outcomes)[number] {
  const status = statusOf(run);
  if (status !== "ended") return status;
  return run.exit === null ? "unknown" : run.exit === 0 ? "succeeded" : "failed";
}

/** Prints the runs since a time, and the number of each outcome. */
async function showSince(
  app: App,
  runs: Iterable<ListedRun>,
  {
    since,
    limit,
    printing,
    fields,
  }: Omit<ListFlags, "since"> & { since: number; printing: Printing<ShownRun> },
): Promise<void> {
  const found = outcomes.map((outcome) => ({ outcome, runs: [] as ListedRun[] }));
  let older = 0;
  for (const run of runs) {
    const outcome = outcomeOf(run);
    const isSince = run.startedAt >= since || (run.endedAt ?? 0) >= since || outcome === "running";
    if (isSince) found[outcomes.indexOf(outcome)]!.runs.push(run);
    else if (outcome === "unfinished") older++;
  }
  const all = found.flatMap((one) => one.runs);
  const shown = all.slice(0, limit);
  await app.io.show(
    fields !== undefined || ["csv", "xlsx"].includes(printing.format ?? "")
      ? printing
      : { ...printing, columns: byNeed(printing.columns) },
    shown.map((run) => toShown(run, app)),
  );
  if (app.globals.mock) return app.io.note(noneOfMock);
  if (shown.length < all.length)
    await app.io.note(`Showing the first ${grouped(shown.length)}. To see more, remove --limit.`);
  const counts = Object.fromEntries(found.map(({ outcome, runs }) => [outcome, runs.length]));
  const after = toMinute(since);
  await app.io.note(
    all.length === 0
      ? `No runs since ${after}.`
      : `${counted(all.length, "run")} since ${after}: ${countList(counts)}.`,
  );
  if (older === 0) return;
  const unfinished =
    older === 1 ? "1 older run is unfinished" : `${grouped(older)} older runs are unfinished`;
  await app.io.note(`${unfinished}. To see all runs: cat runs list --all`);
}

/** The columns of a morning's look, of which a narrow terminal has the first, without the ID of the run. */
const needed = ["file", "exit", "started_at", "status", "kind", "counts", "duration"];
const mostNeeded = 4;

const byNeed = (columns: Printing<ShownRun>["columns"]): Printing<ShownRun>["columns"] => [
  ...needed.flatMap((name, at) =>
    columns.flatMap(({ drop: _, ...column }) =>
      column.name === name ? [{ ...column, ...(at < mostNeeded && { drop: "last" as const }) }] : [],
    ),
  ),
  ...columns.filter(({ name }) => !needed.includes(name)),
];

function newest(runs: Iterable<ListedRun>): ListedRun | null {
  for (const run of runs) return run;
  return null;
}

const getCommand = (app: App): Command =>
  withLedger(
    withPrintFlags(
      command("get", {
        usage: "RUN [flags]",
        summary: "show a run, and the command that resumes or undoes it",
        about:
          "Show a run: its command, its counts and its exit status.\n\n" +
          "RUN is the run_id of a summary or of cat runs list, or the ID of an import.",
        examples: [
          ["show a run", "cat runs get run_mk0xkhj4ac490d0d"],
          ["print the number of failed rows", "cat runs get RUN --json | jq .counts.failed"],
        ],
      }).argument("<RUN>", "run ID, import ID, or last"),
    ),
  ).action(async (id: string, flags: RawPrintFlags & LedgerFlag) => {
    const printing = readPrintFlags(flags, form);
    named("RUN", id, "Use last, the run_id of a summary, or see: cat runs list");
    named("--ledger", flags.ledger, "Choose a file.");
    const { runList, sentJobs } = await openToRead(app, flags.ledger);
    const run = id === "last" ? newest(runList.all()) : runList.get(sentJobs.find(id)?.runId ?? id);
    if (run === null)
      throw new CatError(`no run ${JSON.stringify(id)} on this machine`, {
        type: "not_found",
        code: "run_not_found",
        hint: "To see the runs: cat runs list. For a ledger of its own, add --ledger FILE.",
      });
    await app.io.resource<object>(toShown(run, app), printing as never);
    if (app.io.json) return;
    for (const line of nextLines(app, run, flags.ledger)) await app.io.note(app.io.visible(line));
  });

/** The next commands for a run: the one that resumes it, or undoes it. */
function nextLines(app: App, run: ListedRun, given: string | undefined): string[] {
  const { id, kind, origin, isUndoable } = run;
  if (statusOf(run) === "unfinished" && origin !== null)
    return [`To resume it, run in ${origin.folder}:`, `  ${typedLine(origin.typed, waiting)}`];
  if (kind !== importKind || !(isUndoable || run.ledger !== null) || run.undone === "yes") return [];
  const ledger = given ?? run.ledger ?? undefined;
  return ["To undo it, run:", `  ${flagLine(["imports", "undo", id], { ledger }, app.globals)}`];
}

const statusOf = ({ isUnfinished, isRunning }: ListedRun): "running" | "unfinished" | "ended" =>
  isRunning ? "running" : isUnfinished ? "unfinished" : "ended";

/** To the minute, in UTC. */
const toMinute = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

const toTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** A run as it is printed, by field; its command has the name that this one was called by. */
const toShown = (run: ListedRun, { io }: App) => {
  const { id, kind, file, exit, counts, startedAt, endedAt, origin, undone, isUndoable, baseUrl, ledger } =
    run;
  return {
    run_id: id,
    kind,
    file,
    status: statusOf(run),
    exit,
    counts,
    started_at: toTime(startedAt),
    ended_at: toTime(endedAt),
    duration_ms: endedAt === null ? null : Math.max(0, endedAt - startedAt),
    who: origin?.who ?? null,
    folder: origin?.folder ?? null,
    command: origin === null ? null : io.asCalled(typedLine(origin.typed)),
    undone: undone ?? (kind === importKind && isUndoable ? "no" : null),
    base_url: baseUrl,
    ledger,
  };
};

type ShownRun = ReturnType<typeof toShown>;

/** The counts of a run, without those that others add up to. */
const doneOf = ({ counts }: ShownRun): string => {
  const { total: _, submitted: _1, succeeded: _2, ...done } = counts ?? {};
  const named = Object.entries(done).map(([name, count]): [string, number] => {
    const words = name.replaceAll("_", " ");
    return [count === 1 ? words.replace(/s$/, "") : words, count];
  });
  return countList(Object.fromEntries(named));
};

const plainForm = namedForm<ShownRun>(
  [
    { name: "run_id", value: ({ run_id }) => run_id },
    { name: "kind", value: ({ kind }) => kind, least: whole },
    { name: "file", value: ({ file }) => file },
    { name: "status", value: ({ status }) => status, least: whole },
    { name: "exit", value: ({ exit }) => exit, least: whole },
    { name: "counts", value: doneOf, only: "table", drop: "first" },
    { name: "counts", value: ({ counts }) => (counts === null ? null : JSON.stringify(counts)), only: "csv" },
    {
      name: "duration",
      value: ({ duration_ms: ms }) => (ms === null ? null : durationText(ms)),
      only: "table",
      least: whole,
      drop: "first",
    },
    {
      name: "started_at",
      value: (run) => toMinute(Date.parse(run.started_at!)),
      only: "table",
      least: whole,
    },
    { name: "started_at", value: (run) => run.started_at, only: "csv" },
    { name: "ended_at", value: (run) => run.ended_at, only: "csv" },
    { name: "duration_ms", value: (run) => run.duration_ms, only: "csv" },
    { name: "who", value: ({ who }) => who, drop: "first" },
    { name: "undone", value: ({ undone }) => undone, least: whole, drop: "first" },
    { name: "folder", value: ({ folder }) => folder, only: "csv" },
    { name: "command", value: (run) => run.command, only: "csv" },
    { name: "base_url", value: (run) => run.base_url, only: "csv" },
    { name: "ledger", value: ({ ledger }) => ledger, only: "csv" },
  ],
  [
    ...([
      "run_id",
      "kind",
      "file",
      "status",
      "exit",
      "counts",
      "started_at",
      "ended_at",
      "duration_ms",
      "who",
      "undone",
    ] as const),
    ...(["folder", "command", "base_url", "ledger"] as const),
  ],
);

/** The counts of all kinds of runs, each with the words of its own summary. */
const countNames = [
  ..."total invalid submitted succeeded partial failed created updated skipped unchanged".split(" "),
  ..."kept conflicts deleted known_failures queued products assets added changed renamed".split(" "),
  ..."removed bytes undone set_back detached attached unresolved".split(" "),
];

const form: ResourceForm<ShownRun> = {
  columns: plainForm.columns,
  fields: { fields: { ...plainForm.fields.fields, counts: namedFields(countNames) }, entries: null },
};
