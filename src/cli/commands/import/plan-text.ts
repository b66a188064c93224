import { hash } from "node:crypto";
import { type ChangePlan, type PlanSummary, planLine } from "../../../flows/import/change-plan.ts";
import { ledgerFields } from "../../../flows/import/digests.ts";
import { type PlannedRow, rowOfPlan } from "../../../flows/import/planned-row.ts";
import { counted, truncated } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { type Column, table, whole } from "../../output/table.ts";
import type { PlanFormat } from "./flags.ts";

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
    if (row.action === "unchanged") return;
    if (this.#rows.length < shownRows[this.#format]) this.#rows.push(row);
    else this.#more++;
  };

  async end(summary: PlanSummary): Promise<void> {
    const { io } = this.#app;
    const line = planLine(summary);
    const more = this.#more > 0 ? `and ${counted(this.#more, "more row")} (--plan FILE lists all)` : null;
    if (this.#format === "markdown") return io.data(markdownOf(this.#rows, more, line, io.visible));
    if (this.#rows.length > 0) await io.data(this.#table());
    await noteSummary(this.#app, [...(more === null ? [] : [more]), line]);
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

const colors = {
  create: "green",
  change: "yellow",
  add_photos: "cyan",
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

/** What changes, e.g. `name: "Dress" -> "Red dress", 2 photos`. */
function changesText({ action, fields, photos }: PlannedRow, quoted: (text: string) => string): string {
  if (action === "fail") return "the product exists already";
  const shown = (value: string | null) => (value === null ? "(empty)" : quoted(truncated(value, shownValue)));
  const parts = ledgerFields.flatMap((field) => {
    const change = fields[field];
    return change === undefined ? [] : [`${field}: ${shown(change[0])} -> ${shown(change[1])}`];
  });
  if (photos.length > 0) parts.push(`${action === "create" ? "" : "+"}${counted(photos.length, "photo")}`);
  return parts.join(", ");
}

function markdownOf(
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
export interface PlanHead extends Pick<ChangePlan, "id" | "identity"> {
  /** The version of the form. */
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

/** The version of plan files that this program writes and reads. */
export const planVersion = 1;

/** A plan as lines of JSON. The last one has the counts, and a digest of the others. */
export class PlanLines {
  #digest = "";

  head = (head: PlanHead): string => this.#line(JSON.stringify(head));

  row = (row: PlannedRow): string => this.#line(rowOfPlan(row));

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
