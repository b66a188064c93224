// Guesses of what is not known of files: how the text, the columns and the values are read.

import { type EncodingName, encodingName } from "../../flows/rows/encoding.ts";
import { guessedField, missingColumns } from "../../flows/rows/find-header.ts";
import { normalValue } from "../../flows/rows/mapped-columns.ts";
import type { FoundEncodings } from "../../flows/rows/problem.ts";
import type { RowForm } from "../../flows/rows/row-form.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { type FileHead, type FileMapping, type MappedFile, readHead, wrongValues } from "./file-head.ts";

/** A field with more different wrong values has texts, which are too many to map one by one. */
const mostValues = 20;

export interface AskedFile {
  readonly file: MappedFile;
  readonly mapping: FileMapping;
  /** Null for a file whose encoding is known. */
  readonly encodings: FoundEncodings | null;
}

/** Something that is not known, and what it is read as. */
export interface Guess {
  readonly kind: "encoding" | "column" | "value";
  readonly field: string;
  /** The normal header, or the normal value. */
  readonly name: string;
  /** As the file has it. */
  readonly title: string;
  /** An example of the column, or of the text. */
  readonly sample: string;
  /** The rows with the value. */
  readonly rows: number;
  /** A field, a value, "" for no value; null for a value without a guess. */
  readonly to: string | null;
}

export interface FileGuesses extends AskedFile {
  readonly guesses: readonly Guess[];
  readonly fields: ReadonlySet<string>;
  /** The fields that it needs, and that no column has with these guesses. */
  readonly missing: readonly string[];
}

export interface SharedGuess extends Guess {
  readonly of: FileGuesses[];
}

export interface Answers {
  readonly map: Map<string, string>;
  readonly values: Map<string, Map<string, string>>;
  encoding: EncodingName;
}

/** The unknown columns to ask about: of a file that needs one column only, the first that may be it. */
function listUnknown({ fields, unknown }: FileHead, { needsOne = false, nearest }: Vocabulary) {
  if (!needsOne) return unknown;
  const likely = [...unknown].find(([, { title }]) => nearest(title).length > 0);
  return fields.size > 0 || likely === undefined ? [] : [likely];
}

export async function toGuesses(asked: AskedFile, answers: Answers): Promise<FileGuesses> {
  const { mapping, encodings } = asked;
  const { form, words } = asked.file;
  const encoding = encodings === null ? mapping.encoding : answers.encoding;
  const file = { ...asked.file, read: { ...asked.file.read, encoding } };
  const none = { ...asked, guesses: [], fields: new Set<string>(), missing: [] };
  const head = await readHead(file, form(mapping));
  if (head === null) return none;
  const unknown = [...listUnknown(head, words)];
  const taken = new Set([...head.fields, ...unknown.flatMap(([name]) => answers.map.get(name) ?? [])]);
  const columns = unknown.map(([name, { title, sample }]): Guess => {
    const to = answers.map.get(name) ?? guessedField(title, words, taken) ?? "ignore";
    taken.add(to);
    return { kind: "column", field: "", name, title, sample, rows: 0, to };
  });
  const map = new Map([...mapping.map, ...asMapping(columns).map]);
  const missing = missingFields(head, form({ ...mapping, map }), asked.file);
  // Without a column to choose, the check reports it.
  if (missing.length > 0 && columns.length === 0) return none;
  const wrongs = await wrongValues(file, form({ ...mapping, map }));
  // A value that is to be kept is mapped to itself.
  const wrong = wrongs.filter(({ field, from }) => !mapping.values.get(field)?.has(normalValue(from)));
  const values = wrong.map(({ field, from, to, rows }): Guess => {
    const name = normalValue(from);
    const answer = answers.values.get(field)?.get(name);
    return { kind: "value", field, name, title: from.trim(), sample: "", rows, to: answer ?? to ?? null };
  });
  const isFew = ({ field }: Guess) => values.filter((other) => other.field === field).length <= mostValues;
  const guesses = [...encodingGuess(answers, encodings), ...columns, ...values.filter(isFew)];
  return { ...asked, guesses, fields: head.fields, missing };
}

/** The fields that a header needs and no column has; none for objects, each with its own fields. */
function missingFields({ header }: FileHead, form: RowForm, { added = [] }: MappedFile): string[] {
  return header === null ? [] : missingColumns(header, form).filter((field) => !added.includes(field));
}

/** The guesses as a mapping; where files differ about a column, being read wins over being skipped. */
export function asMapping(guesses: readonly Guess[]): {
  map: Map<string, string>;
  values: Map<string, Map<string, string>>;
} {
  const map = new Map<string, string>();
  const values = new Map<string, Map<string, string>>();
  for (const { kind, field, name, to } of guesses) {
    if (to === null || kind === "encoding") continue;
    if (kind === "column" && to === "ignore" && map.has(name)) continue;
    if (kind === "column") map.set(name, to);
    else values.set(field, (values.get(field) ?? new Map<string, string>()).set(name, to));
  }
  return { map, values };
}

/** The encoding as something to confirm, for a file that is not UTF-8. */
const encodingGuess = ({ encoding }: Answers, encodings: FoundEncodings | null): Guess[] =>
  encodings === null || encoding === undefined
    ? []
    : [
        {
          kind: "encoding",
          field: "",
          name: "",
          title: "The file",
          rows: 0,
          to: encodingName(encoding),
          sample: encodings.shownAs(encoding),
        },
      ];

export function shared(files: readonly FileGuesses[]): SharedGuess[] {
  const byName = new Map<string, SharedGuess>();
  for (const file of files)
    for (const guess of file.guesses) {
      const key = JSON.stringify([guess.kind, guess.field, guess.name, guess.to]);
      const { rows = 0, of = [] } = byName.get(key) ?? {};
      byName.set(key, { ...guess, ...byName.get(key), rows: rows + guess.rows, of: [...of, file] });
    }
  return [...byName.values()];
}
