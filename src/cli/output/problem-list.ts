import type { CheckResult } from "../../flows/rows/check.ts";
import { isDoubtfulReference } from "../../flows/rows/damage.ts";
import type { MergeableRows } from "../../flows/rows/merged-copy.ts";
import type { InputProblem } from "../../flows/rows/problem.ts";
import { counted, grouped, shownName } from "../../flows/words.ts";
import { shellWord } from "../../shell-word.ts";
import { shortText, visible } from "../../text.ts";
import type { Context } from "../context/context.ts";
import type { Io } from "./io.ts";
import { type ListedProblem, type PhotoAt, ProblemGroups, placeText } from "./problem-groups.ts";
import { wrapped } from "./wrapped.ts";

/** Characters per write of a JSON report: a write per problem would take longer than the check. */
const bufferLength = 64 * 1024;

/** The largest number of problems listed for people; `--json` lists all of them. */
const listed = 1000;

/** Takes the problems of a check as they are found, in memory that does not grow with their number. */
export interface ProblemList {
  add(problem: InputProblem): Promise<void>;
  end(check: ListEnd): Promise<void>;
}

/** The result of the check, and how many photos were converted, if that was asked for. */
type ListEnd = CheckResult & { readonly converted?: number | undefined };

export interface ListOptions {
  readonly listsAll: string;
  /** The fields that `--map` takes, listed once below unknown columns. */
  readonly fields?: string;
  readonly photoAt?: PhotoAt | undefined;
}

interface ListOutput {
  readonly io: Pick<Io, "line" | "note" | "visible" | "paintNote">;
  readonly context: Pick<Context, "stderr">;
}

/** For people, or with `--json` for programs; `always`: programs also get a report without problems. */
export const problemList = (
  app: ListOutput & { readonly io: Pick<Io, "json" | "data"> },
  file: string,
  options: ListOptions & { readonly always?: boolean; readonly more?: () => object },
): ProblemList =>
  app.io.json
    ? problemReport(file, app.io.data, options.always ?? false, options)
    : problemsForPeople(file, app, options);

/** A problem whose message names commands as they were called, for programs and reports as well. */
export const namedProblem = ({ asCalled }: Pick<Io, "asCalled">, problem: InputProblem): InputProblem => ({
  ...problem,
  message: asCalled(problem.message),
});

/** For people: groups of problems on a terminal, else one line per problem. */
export const problemsForPeople = (file: string, app: ListOutput, options: ListOptions) =>
  app.context.stderr.isTTY ? groupedProblems(file, app, options) : problemLines(file, app.io, options);

/** One line per problem, up to a limit: `FILE:LINE  field  code  message`, or `FILE: SHEET!CELL  …`. */
function problemLines(
  file: string,
  io: Pick<Io, "line" | "note" | "visible">,
  { listsAll, fields, photoAt }: ListOptions,
) {
  const name = shownName(file);
  let count = 0;
  const below = new LinesBelow(fields);
  return {
    async add(problem: ListedProblem) {
      below.add(problem);
      if (++count > listed) return;
      const { param, code } = problem;
      await io.line(
        `${io.visible(`${placeText(name, problem, photoAt)}  ${param ?? "-"}  ${code}`)}  ${shortText(io.visible(wholeMessage(problem)))}`,
      );
    },
    async end(check: Pick<ListEnd, "mergeable" | "notes"> = {}) {
      if (count > listed) await io.line(`and ${moreProblems(count - listed, listsAll)}`);
      for (const line of below.end(check)) await io.line(io.visible(line));
      for (const line of noteLines(name, check, photoAt)) await io.note(io.visible(line));
    },
  };
}

/** A table of fields and messages, each with its lines; `end` prints it. */
function groupedProblems(
  file: string,
  { io, context }: ListOutput,
  { listsAll, fields, photoAt }: ListOptions,
) {
  const groups = new ProblemGroups(listed);
  const below = new LinesBelow(fields);
  return {
    async add(problem: ListedProblem) {
      below.add(problem);
      groups.add(problem, wholeMessage(problem, noBreak));
    },
    async end(check: Pick<ListEnd, "mergeable" | "notes"> = {}) {
      const { columns: width } = context.stderr;
      const inFile = photoAt === undefined ? `${shownName(file)}: ` : "";
      const rows = groups.inOrder(photoAt).map(({ field, message, where }) => {
        const [shown, text] = [io.visible(field ?? ""), shortText(io.visible(withoutField(message, field)))];
        return {
          field: shown,
          text,
          where: where === null ? null : io.visible(`${inFile}${where}`),
        };
      });
      const fieldWidth = Math.min(widestField, Math.max(0, ...rows.map(({ field }) => field.length)));
      const indent = " ".repeat(fieldWidth === 0 ? 0 : fieldWidth + 2);
      for (const { field, text, where } of rows) {
        const [first, ...more] = wrappedFlags(text, width - indent.length);
        // A long name takes its own line.
        const isLong = field.length > fieldWidth;
        if (isLong) await io.line(io.paintNote.bold(field), asIs);
        const start = isLong ? indent : io.paintNote.bold(field) + indent.slice(field.length);
        await io.line(`${start}${first}`, asIs);
        for (const line of more) await io.line(`${indent}${line}`, asIs);
        if (where === null) continue;
        for (const line of wrapped(where, width - indent.length))
          await io.line(indent + io.paintNote.dim(line), asIs);
      }
      if (groups.omitted > 0) await io.line(`and ${moreProblems(groups.omitted, listsAll)}`);
      for (const line of below.end(check)) await io.line(io.visible(line));
      for (const line of noteLines(shownName(file), check, photoAt)) await io.note(io.visible(line));
    },
  };
}

const widestField = 24;

/** For lines with their own indent. */
const asIs = { wrap: false };

/** One line for each kind of notes, with its first place. */
const noteLines = (
  name: string,
  { notes = [] }: Pick<ListEnd, "notes">,
  photoAt: PhotoAt | undefined,
): string[] =>
  notes.map(
    (note) =>
      `${placeText(name, note, photoAt)}  ${shortText(note.message)}${/[.?]$/.test(note.message) ? "" : "."}`,
  );

/** The lines that are said once, below all problems. */
class LinesBelow {
  readonly #lines = new Set<string>();
  #isRepeated = false;

  constructor(private readonly fields: string | undefined) {}

  add({ mapsTo, code, reference = "" }: ListedProblem): void {
    // The flag for an unknown column leaves the field to the user.
    if (this.fields !== undefined && mapsTo?.includes("FIELD"))
      this.#lines.add(`FIELD is one of: ${this.fields}.`);
    if (code === "duplicate_reference_in_file") {
      if (isDoubtfulReference(reference)) this.#lines.add(damagedRows);
      else this.#isRepeated = true;
    }
  }

  end({ mergeable, notes = [] }: Pick<ListEnd, "mergeable" | "notes">): readonly string[] {
    if (mergeable !== undefined)
      this.#lines.add(
        `${mergeableText(mergeable)} Import the rows of each as one product with --merge-rows.`,
      );
    else if (this.#isRepeated && !notes.some(({ code }) => code === "unmergeable_rows"))
      this.#lines.add(oneRow);
    return [...this.#lines];
  }
}

const oneRow = "Each product has one row: correct the rows that are not of the same product as the first.";

export const mergeableText = ({ products, rows }: MergeableRows): string =>
  `${counted(rows, "row")} are of ${counted(products, "product")}, such as one row per photo or size.`;

/** The flag that imports them. */
export const mergeAdvice = "To import the rows of each reference as one product, add --merge-rows.";

/** Of products whose references were damaged, one would be lost. */
const damagedRows = "A damaged reference may belong to several products: correct it before you remove a row.";

const moreProblems = (count: number, listsAll: string): string =>
  `${grouped(count)} more ${count === 1 ? "problem" : "problems"}; to list all of them, add ${listsAll}`;

/** The message without the field that it starts with, which is next to it. */
function withoutField(message: string, field: string | undefined): string {
  const start = [`${field} `, `${field}: `].find((start) => message.startsWith(start));
  return field === undefined || start === undefined ? message : message.slice(start.length);
}

/** A space at which lines do not break, so that a flag to copy stays in one piece. */
const noBreak = "\u00a0";

const wrappedFlags = (text: string, width: number): string[] =>
  wrapped(text, width).map((line) => line.replaceAll(noBreak, " "));

/** For programs: `{file, problems, total, valid, invalid, …more}` on stdout; without problems if `always`. */
export function problemReport(
  file: string,
  write: (text: string) => Promise<void>,
  always: boolean,
  { more = () => ({}), photoAt }: { more?: (() => object) | undefined; photoAt?: PhotoAt | undefined } = {},
): ProblemList {
  let count = 0;
  let gathered = `{"file":${JSON.stringify(file)},"problems":[`;
  return {
    async add(problem) {
      const { line, sheet, cell, reference, param, code } = problem;
      const photo = photoAt?.(line, param);
      const fields = { line, sheet, cell, photo, reference, param, code, message: wholeMessage(problem) };
      gathered += (count++ === 0 ? "" : ",") + JSON.stringify(fields);
      if (gathered.length < bufferLength) return;
      const text = gathered;
      gathered = "";
      await write(text);
    },
    async end({ total, valid, invalid, left, mergeable, converted, notes = [] }) {
      if (count === 0 && !always) return;
      const others: { notes?: readonly unknown[] } = more();
      const all = [...notes, ...(others.notes ?? [])];
      const noted = all.length === 0 ? {} : { notes: all };
      const counts = JSON.stringify({
        total,
        valid,
        invalid,
        left,
        mergeable,
        converted,
        ...others,
        ...noted,
      });
      await write(`${gathered}],${counts.slice(1)}\n`);
    },
  };
}

/** The message with the flags that map an unknown column or value. */
export function wholeMessage(
  { param, message, mapsTo, valueFix }: Pick<InputProblem, "param" | "message" | "mapsTo" | "valueFix">,
  space = " ",
): string {
  if (valueFix !== undefined) {
    const { field, from, to = "VALUE" } = valueFix;
    const flag = `--map-value ${inQuotes(`${field}:${from.trim()}=${to}`)}`.replaceAll(" ", space);
    return `${message}${message.endsWith("?") ? " C" : ": c"}orrect it, or use ${flag}`;
  }
  if (param === undefined || mapsTo === undefined) return message;
  const flags = mapsTo.map((field) => `--map ${inQuotes(`${param}=${field}`)}`.replaceAll(" ", space));
  return `${message}, or use ${flags.join(" or ")}`;
}

/** A word in double quotes, unless a shell would change it there. */
const inQuotes = (word: string): string =>
  visible(word) === word && !/["$`\\!]/.test(word) ? `"${word}"` : shellWord(word);

/** For a run with `--skip-invalid` and `--json`: invalid rows are in the failed file. */
export const noList: ProblemList = { async add() {}, async end() {} };
