import { hash } from "node:crypto";
import { resolve } from "node:path";
import { fileStart } from "../../../flows/files/disk.ts";
import { OutputFile } from "../../../flows/files/output-file.ts";
import { type ChangePlan, type PlanSummary, planFile, planLine } from "../../../flows/import/change-plan.ts";
import { ledgerFields } from "../../../flows/import/digests.ts";
import { removalsToConfirm, tooManyChanges, tooManyRemovals } from "../../../flows/import/guards.ts";
import type { ImportHost } from "../../../flows/import/import-input.ts";
import { type PlannedRow, plannedLine } from "../../../flows/import/plan.ts";
import { Examples } from "../../../flows/import/summary.ts";
import type { ServiceIdentity } from "../../../flows/run/account.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import { truncated } from "../../../text.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { newRunId } from "../../app/recorded-runs.ts";
import { type CommandHost, runFlow } from "../../app/run-flow.ts";
import { ExitCode, PartialError, UsageError } from "../../context/errors.ts";
import { fileWord } from "../../output/command-words.ts";
import { outputFormat } from "../../output/output-names.ts";
import type { ProblemList } from "../../output/problem-list.ts";
import { type Column, table, whole } from "../../output/table.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { problemLists, rejection, reportConversions } from "./check-report.ts";
import type { ImportFlags, PlanFormat } from "./flags.ts";
import { notAppliedLines } from "./merge-lines.ts";
import type { OpenedFile } from "./open-file.ts";
import { openImportMemory } from "./remembered.ts";

/** Plans the import of a file: prints what would change at the service, and writes the plan to a file. */
export async function planRun(
  app: App,
  opened: readonly OpenedFile[],
  foundProblems: FoundProblems | null,
): Promise<void> {
  app.context.keepHeapSmall?.();
  const [thisFile] = opened as [OpenedFile];
  const { flags, file } = thisFile;
  const out = typeof flags.plan === "string" ? flags.plan : null;
  if (out !== null) await rejectOtherFile(app, out, flags);
  const lists = await problemLists(app, opened, { found: foundProblems });
  const view = new PlanView(app, flags.planFormat ?? "table");
  const output = new PlanOutput(app, out);
  const flow = (commandHost: CommandHost) => {
    const host = planHost(app, thisFile, commandHost, lists.of[0]!);
    return planFile(
      { input: { ...flags, file, localPhotos: thisFile.localPhotos }, host },
      (identity, { service }) => output.begin(host.runId, { identity, service }, thisFile),
      async (row) => {
        await output.row(row);
        view.add(row);
        if (row.action === "fail") foundProblems?.add(...failedProblem(row, thisFile));
      },
    );
  };
  let plan: ChangePlan;
  try {
    const planned = await runFlow(app, flow);
    if (planned.plan === null) {
      await lists.end([planned.check]);
      throw rejection(opened, [planned.check], () => true);
    }
    ({ plan } = planned);
    const { summary } = plan;
    if (foundProblems !== null)
      foundProblems.counts = Object.fromEntries(reportedCounts.map((name) => [name, summary[name]]));
    await output.end(summary);
  } catch (error) {
    await output.discard();
    throw error;
  }
  if (!app.io.json) await view.end(plan.summary);
  else if (out !== null) await app.io.jsonData({ ...plan.summary, plan_file: out });
  await endPlan(app, thisFile, plan, out);
}

/** The host of a plan's flow; it writes no rows and asks nothing. */
const planHost = (
  app: App,
  { flags, converter, urls }: OpenedFile,
  commandHost: CommandHost,
  list: ProblemList,
): ImportHost => {
  const noteConversions = reportConversions(app, { converter, urls }, commandHost.onProgress);
  return {
    ...commandHost,
    runId: newRunId(app.context.clock.now()),
    targets: () => Promise.reject(new Error("a plan writes no rows")),
    memory: () => openImportMemory(app, flags.ledger),
    ask: undefined,
    onProblem: list.add,
    onChecked: async (check) => {
      await list.end({ ...check, converted: converter?.count });
      await noteConversions();
    },
  };
};

const failedProblem = (
  { line, reference }: PlannedRow,
  { file, photoAt }: OpenedFile,
): Parameters<FoundProblems["add"]> => [
  { ...file.source, photoAt },
  { line, reference, param: "reference", code: "reference_already_exists", message: productExists },
];

/** The lines of a plan, in the file of `--plan` or, with `--json` alone, on stdout. */
class PlanOutput {
  readonly #app: App;
  readonly #out: string | null;
  readonly #lines = new PlanLines();
  #file: OutputFile | undefined;

  constructor(app: App, out: string | null) {
    this.#app = app;
    this.#out = out;
  }

  async begin(
    id: string,
    { identity, service }: { identity: string; service: ServiceIdentity },
    { flags, file: { source } }: OpenedFile,
  ): Promise<void> {
    const { cwd, clock } = this.#app.context;
    if (this.#out !== null)
      this.#file = await OutputFile.begin(resolve(cwd, this.#out), true, `${id}.plan`, 0o600);
    await this.#write(
      this.#lines.head({
        plan: planVersion,
        id,
        identity,
        created_at: new Date(clock.now()).toISOString(),
        file: source.name,
        file_sha256: source.digest!,
        base_url: service.baseUrl,
        account: service.keyFingerprint,
        flags: flags.typed,
      }),
    );
  }

  row = (row: PlannedRow): Promise<void> => this.#write(this.#lines.row(row));

  async end(summary: PlanSummary): Promise<void> {
    await this.#write(this.#lines.end(summary));
    await this.#file?.commit();
  }

  discard = async (): Promise<void> => this.#file?.discard();

  async #write(line: string): Promise<void> {
    await this.#file?.write(line);
    if (this.#app.io.json && this.#out === null) await this.#app.io.data(line);
  }
}

/** Names the command that applies a plan, and sets the exit status. Throws what the import would throw. */
async function endPlan(
  app: App,
  { flags, file: { source } }: OpenedFile,
  { summary, ownPhotos, rejection: rowsError }: ChangePlan,
  out: string | null,
): Promise<void> {
  const left = summary.invalid + summary.unchanged + summary.kept + summary.deleted;
  const isEmpty = summary.total === left;
  if (rowsError !== null) throw rowsError;
  if (out !== null && !isEmpty) {
    const pipe = source.path === null ? "pipe the same rows to" : "run";
    await app.io.note(`To apply it, ${pipe}: cat import --apply ${fileWord(out)}`);
  }
  const excess =
    tooManyChanges(summary.total - left - summary.conflicts, summary, flags.maxChanges) ??
    tooManyRemovals({ photos: summary.photos, ownPhotos }, flags.maxRemovals);
  if (excess !== null) throw excess;
  const question = flags.maxRemovals === undefined ? removalsToConfirm({ ...summary, ownPhotos }) : null;
  if (question !== null) await app.io.note(question);
  rejectPartial(summary, source.name);
  if (flags.exitCode && !isEmpty) app.exit = ExitCode.changes;
}

/** Throws a PartialError for a plan with rows that would not be imported. */
export function rejectPartial({ fail, invalid, conflicts, total }: PlanSummary, file: string): void {
  const bad = fail + invalid + conflicts;
  if (bad > 0)
    throw new PartialError(
      `${grouped(bad)} of ${counted(total, "row")} of ${shownName(file)} would not be imported`,
    );
}

/** Rejects an output that is not a plan: a file to import may have been meant. Throws UsageError. */
async function rejectOtherFile(app: App, out: string, { file }: ImportFlags): Promise<void> {
  const path = resolve(app.context.cwd, out);
  const hint = "Choose another file, for example --plan plan.ndjson.";
  if (out.trim() === "" || out === "-")
    throw new UsageError(`cannot use --plan ${JSON.stringify(out)}`, { param: "--plan", hint });
  const none = ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" ? null : Buffer.alloc(0));
  const start = await fileStart(path, planStart.length).catch(none);
  const isInput = file !== "-" && path === resolve(app.context.cwd, file);
  if (start === null || (!isInput && start.toString("latin1") === planStart))
    return void outputFormat("--plan", out, ["ndjson"]);
  throw new UsageError(`cannot write --plan ${out}: the file exists and is not a plan`, {
    param: "--plan",
    hint,
  });
}

const planStart = '{"plan":';

/** Rows that a plan prints for people: more are not read, and do not fit into a comment of a pull request. */
const shownRows: Readonly<Record<PlanFormat, number>> = { table: 1_000, markdown: 100 };

/** The characters of a value that a plan prints. */
const shownValue = 60;

/** Prints the rows of a plan that change something, then its counts. */
export class PlanView {
  readonly #app: App;
  readonly #format: PlanFormat;
  readonly #rows: PlannedRow[] = [];
  #more = 0;

  constructor(app: App, format: PlanFormat) {
    this.#app = app;
    this.#format = format;
  }

  readonly add = (row: PlannedRow): void => {
    if (row.action === "unchanged" || row.action === "kept") return;
    if (this.#rows.length < shownRows[this.#format]) this.#rows.push(row);
    else this.#more++;
  };

  async end(summary: PlanSummary): Promise<void> {
    const { io } = this.#app;
    const line = planLine(summary);
    const more = this.#more > 0 ? `and ${counted(this.#more, "more row")} (--plan FILE lists all)` : null;
    if (this.#format === "markdown") return io.text(toMarkdown(this.#rows, more, line, io.visible));
    if (this.#rows.length > 0) await io.text(this.#table());
    const notApplied = notAppliedLines(summary.not_applied, new Examples());
    await noteSummary(this.#app, [...(more === null ? [] : [more]), line, ...notApplied]);
  }

  #table(): string {
    const { context, io } = this.#app;
    const layout = {
      width: context.stdout.isTTY ? context.stdout.columns : null,
      heading: io.paint.bold,
      visible: io.visible,
    };
    const [head, ...lines] = table(columns, this.#rows, layout).text.trimEnd().split("\n");
    const painted = lines.map((text, index) => io.paint[colors[this.#rows[index]!.action]](text));
    return `${[head, ...painted].join("\n")}\n`;
  }
}

const productExists = "the product exists already";

/** The counts that reports list, in this order. */
const reportedCounts = [
  "total",
  "create",
  "change",
  "add_photos",
  "unchanged",
  "kept",
  "deleted",
  "conflicts",
  "skip",
  "fail",
  "invalid",
] as const;

const colors = {
  create: "green",
  change: "yellow",
  add_photos: "cyan",
  kept: "dim",
  deleted: "yellow",
  conflict: "red",
  unchanged: "dim",
  skip: "dim",
  fail: "red",
} as const;

const columns: readonly Column<PlannedRow>[] = [
  { name: "line", value: ({ line }) => line, least: whole },
  { name: "reference", value: ({ reference }) => reference },
  { name: "action", value: actionText, least: whole },
  { name: "changes", value: (row) => changesText(row, (value) => JSON.stringify(value)) },
];

function actionText({ action }: PlannedRow): string {
  return action.replace("_", " ");
}

/** The changes, e.g. `name: "Dress" -> "Red dress", 2 photos`. */
function changesText(
  { action, fields, photos, detached = [], moved = [], conflict }: PlannedRow,
  quoted: (text: string) => string,
): string {
  if (action === "fail") return productExists;
  if (conflict !== undefined) return `${conflict.code}: ${conflict.message}`;
  if (action === "deleted") return "the product was deleted";
  const shown = (value: string | null) => (value === null ? "(empty)" : quoted(truncated(value, shownValue)));
  const parts = ledgerFields.flatMap((field) => {
    const change = fields[field];
    return change === undefined ? [] : [`${field}: ${shown(change[0])} -> ${shown(change[1])}`];
  });
  if (photos.length > 0) parts.push(`${action === "create" ? "" : "+"}${counted(photos.length, "photo")}`);
  if (detached.length > 0) parts.push(`-${counted(detached.length, "photo")}`);
  if (moved.length > 0) parts.push(`${counted(moved.length, "photo")} moved`);
  return parts.join(", ");
}

function toMarkdown(
  rows: readonly PlannedRow[],
  more: string | null,
  line: string,
  visible: (text: string) => string,
): string {
  const code = (text: string) => inCode(visible(text));
  const table = rows.map(
    (row) => `| ${row.line} | ${code(row.reference)} | ${actionText(row)} | ${changesText(row, code)} |`,
  );
  const head = ["| line | reference | action | changes |", "|--:|---|---|---|"];
  const parts = [...(rows.length === 0 ? [] : [...head, ...table, ""])];
  return `${[...parts, ...(more === null ? [] : [more, ""]), `**${line}**`].join("\n")}\n`;
}

/** A code span, in which nothing is a link, a mention or markup. */
function inCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = text === "" || /^`|`$/.test(text) ? " " : "";
  return `${fence}${pad}${text.replaceAll("|", "\\|")}${pad}${fence}`;
}

/** The first line of a plan file. */
export interface PlanHead {
  /** The ID of the run that carries it out. */
  readonly id: string;
  readonly identity: string;
  readonly plan: number;
  readonly created_at: string;
  readonly file: string;
  readonly file_sha256: string;
  readonly base_url: string;
  /** A digest of the API key. */
  readonly account: string;
  /** The flags that decide what is sent, as they were typed. */
  readonly flags: Readonly<Record<string, unknown>>;
}

export const planVersion = 1;

/** A plan as lines of JSON. The last one has the counts, and a digest of the others. */
export class PlanLines {
  #digest = "";

  head = (head: PlanHead): string => this.#line(JSON.stringify(head));

  row = (row: PlannedRow): string => this.#line(plannedLine(row));

  end(summary: PlanSummary): string {
    return `${JSON.stringify({ ...summary, sha256: this.#digest })}\n`;
  }

  #line(line: string): string {
    this.#digest = nextDigest(this.#digest, line);
    return `${line}\n`;
  }
}

/** The digest of the lines of a plan so far, with one more. */
export const nextDigest = (before: string, line: string): string => hash("sha256", `${before}\n${line}`);
