// Which record of a table is its header: titles, comments and names of groups may be above it.

import { hasNames, nameTest } from "./odd-lines.ts";
import type { RowColumns, RowForm } from "./row-form.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Records with text among which the header is searched, besides comments; and with them. */
const searchedRecords = 21;
const searchedWithComments = 200;

const comment = /^\s*(?:#+|\/\/|--)\s*\p{L}/u;

/** Counts the records among which the header is searched, by their first text. */
export class SearchedRecords {
  #count = 0;
  #withComments = 0;

  /** Whether the next record is one of them. */
  add(text: string): boolean {
    if (!comment.test(text)) this.#count++;
    return this.#count <= searchedRecords && ++this.#withComments <= searchedWithComments;
  }
}

export interface HeaderForm extends Pick<RowForm, "isColumn" | "words"> {
  columns(...given: Parameters<RowForm["columns"]>): Pick<RowColumns, "names">;
}

export interface FoundHeader {
  readonly at: number;
  /** Whether it has every needed column: by known names, only by guesses, or not at all. */
  readonly has: "all" | "guesses" | "less";
  /** The columns that are needed and that it lacks, also by guesses. */
  readonly missing: readonly string[];
  /** How many of its columns are known. */
  readonly known: number;
  /** How many different texts it has. */
  readonly filled: number;
}

/** The field that an unknown header probably means, of those that are free. */
export const guessedField = (
  title: string,
  { nearest, freeFields }: Vocabulary,
  taken: ReadonlySet<string>,
): string | undefined => {
  const near = nearest(title);
  return near.length === 0 ? undefined : near.find((field) => freeFields(taken).includes(field));
};

export function missingColumns(header: readonly string[], form: HeaderForm): string[] {
  const missing: string[] = [];
  form.columns(header, 1, ({ code, param }) => {
    if (code === "missing_column") missing.push(param!);
  });
  return missing;
}

/**
 * The header among the first records with text: the first with all columns, by names, else by guesses, if
 * only titles are above it. Else the first record, unless it is a title, or has no known column while one of
 * the next ones has several.
 */
export function findHeader(records: readonly (readonly string[])[], form: HeaderForm): FoundHeader {
  const head = records.slice(0, searchedOf(records)).map((record, at) => new Candidate(record, at, form));
  const [first] = head as [Candidate];
  const isHeader = (header: Candidate | undefined) =>
    header !== undefined && head.slice(0, header.at).every((above) => above.isAbove(header));
  // Guesses cost most, and are for files without known names.
  const known = head.find((header) => header.hasAll);
  if (isHeader(known)) return known!;
  const best = head.find(({ has }) => has !== "less");
  if (isHeader(best)) return best!;
  if (first.known > 0) return first;
  const line = head.find((one) => !one.isTitle);
  if (line?.filled === 1 && hasNames(line.text, nameTest(form))) return line;
  const least = form.words?.needsOne === true ? 1 : 2;
  const others = head.slice(1).filter((one) => one.filled > 1 || isHeader(one));
  const several = (count: (candidate: Candidate) => number) =>
    others.filter((one) => count(one) >= least || (count(one) > 0 && count(one) === one.filled));
  const byName = several(({ known }) => known);
  const likely = byName.length > 0 || first.fields > 0 ? byName : several(({ fields }) => fields);
  if (likely.length === 1) return likely[0]!;
  // A single cell is no header where two columns are needed, unless it is a line of them.
  const isTitle = least > 1 && first.isTitle;
  return (isTitle && others.find(({ filled, isComment }) => filled > 1 && !isComment)) || first;
}

function searchedOf(records: readonly (readonly string[])[]): number {
  const searched = new SearchedRecords();
  const end = records.findIndex((record) => !searched.add(record.find((cell) => cell.trim() !== "") ?? ""));
  return end === -1 ? records.length : end;
}

/** More cells of one record are not guessed. */
const guessedCells = 60;

class Candidate implements FoundHeader {
  readonly at: number;
  readonly known: number;
  /** Whether it has every column that is needed, by the names that are known. */
  readonly hasAll: boolean;
  readonly filled: number;
  readonly text: string;
  readonly isComment: boolean;
  readonly #hasUrl: boolean;
  readonly #texts: readonly string[];
  /** The known ones. To judge all of many unknown ones takes long. */
  readonly #columns: readonly string[];
  readonly #form: HeaderForm;
  #guessed: { count: number; missing: readonly string[] } | undefined;

  constructor(record: readonly string[], at: number, form: HeaderForm) {
    const texts = record.filter((cell) => cell.trim() !== "");
    this.#texts = texts;
    this.#form = form;
    this.at = at;
    this.filled = new Set(texts).size;
    this.text = texts[0] ?? "";
    this.isComment = comment.test(this.text);
    this.#hasUrl = texts.some((text) => text.includes("://"));
    this.#columns = ["", ...texts.filter((text) => form.isColumn(text))];
    this.known = this.#columns.length - 1;
    this.hasAll = this.known > 0 && missingColumns(this.#columns, form).length === 0;
  }

  /** Whether it is above the lines of a table, each of which may be one cell. */
  get isTitle(): boolean {
    return this.isComment || (this.filled === 1 && !/[;,\t|]/.test(this.text));
  }

  get has(): FoundHeader["has"] {
    if (this.hasAll) return "all";
    return this.fields > 0 && this.missing.length === 0 ? "guesses" : "less";
  }

  get missing(): readonly string[] {
    return this.hasAll ? [] : this.#guesses.missing;
  }

  get fields(): number {
    return this.hasAll ? this.known : this.known + this.#guesses.count;
  }

  /** Whether it may be above the header: a title, a comment, or a line that names groups of its columns. */
  isAbove(header: Candidate): boolean {
    if (this.isComment) return true;
    // Above a list, a single word may be the first of its references.
    if (this.filled === 1) return header.filled > 1 || /\s/.test(this.text.trim());
    return !this.#hasUrl && (this.filled < header.filled || this.fields === 0);
  }

  get #guesses() {
    this.#guessed ??= this.#guess();
    return this.#guessed;
  }

  /** The fields that its unknown columns probably mean; a row with a URL has no names of columns. */
  #guess(): { count: number; missing: readonly string[] } {
    const { isColumn, columns, words } = this.#form;
    const known = this.#columns;
    const guessed: string[] = [];
    if (words !== undefined && !this.#hasUrl) {
      const taken = new Set(columns(known, 1, () => {}).names.filter((name) => name !== null));
      for (const text of this.#texts.slice(0, guessedCells)) {
        const field = isColumn(text) ? undefined : guessedField(text, words, taken);
        if (field === undefined) continue;
        guessed.push(field);
        taken.add(field);
      }
    }
    return { count: guessed.length, missing: missingColumns([...known, ...guessed], this.#form) };
  }
}
