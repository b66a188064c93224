import type { Command } from "commander";
import { CatError } from "../../errors.ts";
import { importKind } from "../../flows/import/import-input.ts";
import { countList, grouped } from "../../flows/words.ts";
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
import { named } from "../flags/values.ts";
import { flagLine, typedLine, waiting } from "../output/command-words.ts";
import { whole } from "../output/table.ts";
import { namedFields, namedForm } from "../resources/forms.ts";
import { FirstOnes } from "../resources/list-resource.ts";

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
          [
            "print the IDs of all unfinished runs",
            `cat runs list --all --json | jq -r 'select(.status=="unfinished").run_id'`,
          ],
          ["list the runs of a ledger of CI jobs", "cat runs list --ledger state/ledger.db"],
        ],
      }),
    ),
  ).action(async (flags: RawListFlags & LedgerFlag) => {
    const printing = readPrintFlags(flags, form);
    named("--ledger", flags.ledger, "Choose a file.");
    const { runList } = await openToRead(app, flags.ledger);
    const runs = new FirstOnes(singly(runList.all()), readLimit(flags));
    async function* rows() {
      for await (const page of runs) yield page.map((run) => toShown(run, app));
    }
    const count = await app.io.showPages(printing, rows());
    if (count === 0) {
      await app.io.note(
        app.globals.mock
          ? "No runs: --mock loses its data after each command."
          : "No runs on this machine yet.",
      );
    } else if (runs.isMore) {
      await app.io.note(`Showing the newest ${grouped(count)}. To see more, add --limit N or --all.`);
    }
  });

function newest(runs: Iterable<ListedRun>): ListedRun | null {
  for (const run of runs) return run;
  return null;
}

/** Pages of one row: the state is not read further than the limit. */
async function* singly<Row>(rows: Iterable<Row>): AsyncGenerator<readonly Row[]> {
  for (const row of rows) yield [row];
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
    // To the minute, in UTC.
    { name: "started_at", value: (run) => `${run.started_at!.slice(0, 16)}Z`, only: "table", least: whole },
    { name: "started_at", value: (run) => run.started_at, only: "csv" },
    { name: "ended_at", value: (run) => run.ended_at, only: "csv" },
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
