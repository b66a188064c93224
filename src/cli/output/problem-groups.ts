import { cellText, type InputProblem, sheetName } from "../../flows/rows/problem.ts";
import { grouped } from "../../flows/words.ts";

/** A kind with more different messages than this is one group, with the first message as an example. */
const separateMessages = 5;

/** The number of lines and ranges that a group names; the rest is counted. */
const namedRanges = 8;

/** Problems of the header, which make all rows unreadable. They are about the file, not about a line. */
const headerCodes: ReadonlySet<string> = new Set(["unknown_column", "missing_column", "duplicate_header"]);

/** A problem to list. Those reported by the service have its own codes, and may be about a range of lines. */
export type ListedProblem = Pick<
  InputProblem,
  "reference" | "param" | "message" | "mapsTo" | "valueFix" | "sheet" | "cell"
> & {
  line: number | `${number}-${number}`;
  code: string;
};

/** The photo that stands for a line, in rows made from a folder of photos. */
export type PhotoAt = (line: number, param: string | undefined) => string | undefined;

/** Problems with one field, code and message, and their lines. */
export interface ProblemGroup {
  readonly field: string | undefined;
  readonly message: string;
  /** `lines 3, 7, 12-40 (31 rows)`, `Sheet1!C3, C7 (2 rows)`, or a photo and more; null for the header. */
  readonly where: string | null;
}

/** Problems with one field and code whose messages differ only in what they quote. */
interface Kind {
  readonly field: string | undefined;
  readonly code: string;
  readonly first: string;
  readonly lines: Lines;
  /** The lines per message; null once there are more messages than are shown separately. */
  messages: Map<string, Lines> | null;
}

/** Groups problems: the header, then the most frequent. At most `limit` groups are in memory. */
export class ProblemGroups {
  readonly #kinds = new Map<string, Kind>();
  #count = 0;
  /** The number of problems that are in no group, because there were too many groups. */
  omitted = 0;

  constructor(private readonly limit: number) {}

  /** Adds a problem; those of a file come in the order of its lines. `message` is the complete one. */
  add(problem: ListedProblem, message: string): void {
    const { line, param: field, code } = problem;
    const key = JSON.stringify([field, code, messageShape(message)]);
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      if (this.#count >= this.limit) {
        this.omitted++;
        return;
      }
      kind = { field, code, first: message, lines: new Lines(problem), messages: new Map() };
      this.#kinds.set(key, kind);
    }
    kind.lines.add(line);
    if (kind.messages === null) return;
    const lines = kind.messages.get(message);
    if (lines !== undefined) lines.add(line);
    else if (kind.messages.size < separateMessages && this.#count < this.limit) {
      this.#count++;
      kind.messages.set(message, new Lines(problem).add(line));
    } else {
      this.#count -= kind.messages.size - 1;
      kind.messages = null;
    }
  }

  inOrder(photoAt?: PhotoAt): ProblemGroup[] {
    const groups = [...this.#kinds.values()].flatMap(({ field, code, first, lines, messages }) => {
      const isHeader = headerCodes.has(code);
      if (messages === null) {
        const message = `${first} (the first of ${grouped(lines.rows)} similar problems)`;
        return [{ field, message, lines, isHeader }];
      }
      return [...messages].map(([message, lines]) => ({ field, message, lines, isHeader }));
    });
    groups.sort(
      (a, b) =>
        Number(b.isHeader) - Number(a.isHeader) ||
        (a.isHeader ? 0 : b.lines.rows - a.lines.rows || a.lines.first - b.lines.first),
    );
    return groups.map(({ field, message, lines, isHeader }) => {
      const photo = photoAt?.(lines.first, field);
      const more = lines.rows > 1 ? ` and ${grouped(lines.rows - 1)} more` : "";
      const where = photo === undefined ? lines.text : `${photo}${more}`;
      return { field, message, where: isHeader ? null : where };
    });
  }
}

/** The message without what it quotes, its numbers and its paths. */
const messageShape = (message: string): string =>
  message
    .replace(/"(?:[^"\\]|\\.)*"?/g, '""')
    .replace(/[^\s()"]+/g, (word) => (/[/\\]/.test(word) ? "/" : word))
    .replace(/\d+/g, "0");

/** The lines of a group, as a few ranges and a number. */
class Lines {
  /** The number of problems, which is the number of rows unless a row has several. */
  rows = 0;
  readonly #ranges: { from: number; to: number }[] = [];
  #unnamed = 0;
  #last = 0;

  /** The start of each place in a workbook, and before the first of them the sheet. */
  readonly #column: string;
  readonly #sheet: string;

  constructor({ sheet, cell }: ListedProblem) {
    this.#column = /^\D*/.exec(cell ?? "")![0];
    this.#sheet = sheet === undefined ? "" : `${sheetName(sheet)}!`;
  }

  get first(): number {
    return this.#ranges[0]!.from;
  }

  add(line: ListedProblem["line"]): this {
    const [from, to] =
      typeof line === "number" ? [line, line] : (line.split("-").map(Number) as [number, number]);
    // A row may have the same problem in several of its parts.
    if (from === this.#last) return this;
    this.#last = to;
    this.rows++;
    const range = this.#ranges.at(-1);
    if (range?.to === from - 1 && this.#unnamed === 0) range.to = to;
    else if (this.#ranges.length < namedRanges) this.#ranges.push({ from, to });
    else this.#unnamed++;
    return this;
  }

  get text(): string {
    const column = this.#column;
    const named = this.#ranges.map(({ from, to }) =>
      from === to ? `${column}${from}` : `${column}${from}${column === "" ? "-" : `:${column}`}${to}`,
    );
    const more = this.#unnamed === 0 ? "" : " and more";
    // A range as the service reports it counts once.
    const rows = this.rows === 1 ? "" : ` (${grouped(this.rows)} rows)`;
    const noun = this.rows === 1 && !named[0]!.includes("-") ? "line " : "lines ";
    return `${this.#sheet || noun}${named.join(", ")}${more}${rows}`;
  }
}

/** Where a problem is: `products.csv:14`, `products.xlsx: Sheet1!C14`, or the photo. */
export function placeText(
  file: string,
  { line, sheet, cell, param }: Pick<ListedProblem, "line" | "sheet" | "cell" | "param">,
  photoAt?: PhotoAt,
): string {
  const photo = typeof line === "number" ? photoAt?.(line, param) : undefined;
  const inSheet = cellText({ sheet, cell });
  return photo ?? (inSheet === null ? `${file}:${line}` : `${file}: ${inSheet}`);
}
