// Which record of a table is its header: titles, comments and names of groups may be above it.

import type { RowColumns, RowForm } from "./row-form.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Records with text among which the header is searched. */
export const searchedRecords = 21;

/** What is needed of a form to recognize a header. */
export interface HeaderForm extends Pick<RowForm, "isColumn" | "words"> {
  columns(...given: Parameters<RowForm["columns"]>): Pick<RowColumns, "names">;
}

/** The header of a table, and how certain it is. */
export interface FoundHeader {
  /** Its index among the records. */
  readonly at: number;
  /** Whether it has every column that is needed: by the names that are known, only by guesses, or not at all. */
  readonly has: "all" | "guesses" | "less";
  /** The columns that are needed and that it lacks, also by guesses. */
  readonly missing: readonly string[];
  /** How many of its columns are known. */
  readonly known: number;
}

/** The field that an unknown header probably means, of those that are free. */
export const guessedField = (
  title: string,
  { nearest, freeFields }: Pick<Vocabulary, "nearest" | "freeFields">,
  taken: ReadonlySet<string>,
): string | undefined => {
  const near = nearest(title);
  return near.length === 0 ? undefined : near.find((field) => freeFields(taken).includes(field));
};

/** The required columns that a header lacks. */
export function missingColumns(header: readonly string[], form: Pick<HeaderForm, "columns">): string[] {
  const missing: string[] = [];
  form.columns(header, 1, ({ code, param }) => {
    if (code === "missing_column") missing.push(param!);
  });
  return missing;
}

/**
 * The header among the first records with text. It is the first one with all columns, by their names, else by guesses, if
 * only titles are above it. Else it is the first record, unless that has no known column and one of the next ones has several,
 * or unless it is a title.
 */
export function findHeader(records: readonly (readonly string[])[], form: HeaderForm): FoundHeader {
  const head = records.slice(0, searchedRecords).map((record, at) => new Candidate(record, at, form));
  const [first] = head as [Candidate];
  if (first.has === "all") return first;
  const complete = (["all", "guesses"] as const).map((wanted) => head.find(({ has }) => has === wanted));
  const best = complete.find(
    (header) => header !== undefined && head.slice(0, header.at).every((above) => above.isAbove(header)),
  );
  if (best !== undefined) return best;
  if (first.known > 0) return first;
  const least = form.words?.needsOne === true ? 1 : 2;
  const others = head.slice(1);
  const several = (count: (candidate: Candidate) => number) =>
    others.filter((one) => count(one) >= least || (count(one) > 0 && count(one) === one.filled));
  const byName = several(({ known }) => known);
  const likely = byName.length > 0 || first.fields > 0 ? byName : several(({ fields }) => fields);
  if (likely.length === 1) return likely[0]!;
  // A single cell is no header where two columns are needed.
  const isTitle = least > 1 && (first.isComment || first.filled === 1);
  return (isTitle && others.find(({ filled, isComment }) => filled > 1 && !isComment)) || first;
}

/** More cells of one record are not guessed. */
const guessedCells = 200;

class Candidate implements FoundHeader {
  readonly at: number;
  readonly known: number;
  readonly has: FoundHeader["has"];
  readonly missing: readonly string[];
  /** How many of its columns are known or guessed. */
  readonly fields: number;
  /** How many different texts it has. */
  readonly filled: number;
  readonly isComment: boolean;
  readonly #hasUrl: boolean;

  constructor(record: readonly string[], at: number, form: HeaderForm) {
    const texts = record.filter((cell) => cell.trim() !== "");
    this.at = at;
    this.filled = new Set(texts).size;
    this.isComment = /^\s*(?:#|\/\/|--)/.test(texts[0] ?? "");
    this.#hasUrl = texts.some((text) => text.includes("://"));
    this.known = texts.filter((text) => form.isColumn(text)).length;
    const missing = missingColumns(record, form);
    if (this.known > 0 && missing.length === 0) {
      this.has = "all";
      this.fields = this.known;
      this.missing = missing;
      return;
    }
    const { header, guessed } = withGuesses(record, form);
    this.fields = this.known + guessed;
    this.missing = guessed === 0 ? missing : missingColumns(header, form);
    this.has = this.fields > 0 && this.missing.length === 0 ? "guesses" : "less";
  }

  /** Whether it may be above the header: a title, a comment, or a line that names groups of its columns. */
  isAbove(header: Candidate): boolean {
    if (this.isComment || this.filled === 1) return true;
    return !this.#hasUrl && (this.fields === 0 || this.filled < header.filled);
  }
}

/** A header with the fields that its unknown columns probably mean in place of their names. */
function withGuesses(
  record: readonly string[],
  { isColumn, columns, words }: HeaderForm,
): { header: readonly string[]; guessed: number } {
  if (words === undefined) return { header: record, guessed: 0 };
  const taken = new Set(columns(record, 1, () => {}).names.filter((name) => name !== null));
  let guessed = 0;
  const header = record.map((cell, column) => {
    if (column >= guessedCells || cell.trim() === "" || isColumn(cell)) return cell;
    const field = guessedField(cell, words, taken);
    if (field === undefined) return cell;
    guessed++;
    taken.add(field);
    return field;
  });
  return { header, guessed };
}
