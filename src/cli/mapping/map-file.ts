import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { fileProblem } from "../../errors.ts";
import { photosKind, productsKind } from "../../flows/export/selection/columns.ts";
import { generationVocabulary } from "../../flows/generate/columns/vocabulary.ts";
import { importVocabulary } from "../../flows/import/columns.ts";
import { type EncodingName, knownEncoding } from "../../flows/rows/encoding.ts";
import { type Mapping, normalValue } from "../../flows/rows/mapped-columns.ts";
import { normalHeader } from "../../flows/rows/row-form.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { DeepJsonError, isObject, parseJson } from "../../json.ts";
import { UsageError } from "../context/errors.ts";

export const vocabularies: readonly Vocabulary[] = [
  importVocabulary,
  generationVocabulary("tryon"),
  generationVocabulary("beautify"),
  productsKind.words,
  photosKind.words,
];

/** A mapping in a file, which all commands read. */
export interface MapFile extends Mapping {
  /** As typed. */
  readonly name: string;
  /** Whether a command reads it only for sheets in its folder, which is not the current one. */
  readonly isForFolder: boolean;
  /** Columns and values as they are written in the file, by their normal names. */
  readonly spelling: ReadonlyMap<string, string>;
  /** The encoding of files that are not UTF-8. */
  readonly encoding: EncodingName;
  /** By the name of a workbook, the sheet that is read. */
  readonly sheets: ReadonlyMap<string, string>;
}

/** `isChosen`: by `--map-file`, which may be a pipe of the shell. */
export type MapFilePlace = Readonly<{ name: string; path: string; isForFolder: boolean; isChosen: boolean }>;

/** Reads a file. Throws UsageError, with the line, for a file with anything that no command uses. */
export async function readMapFile({ name, path, isForFolder, isChosen }: MapFilePlace): Promise<MapFile> {
  const stats = isChosen ? null : await stat(path).catch(() => null);
  if (stats !== null && !stats.isFile() && !stats.isDirectory())
    throw unusable(name, "it is not a file", "Remove it, or use another one with --map-file.");
  const bytes = await readFile(path).catch((error) => {
    throw unreadable(name, error);
  });
  return { ...toMapFile(utf8Text(bytes, name), name), isForFolder };
}

/** The mapping in a text. Throws UsageError. */
export const toMapFile = (text: string, name: string): MapFile => ({
  name,
  isForFolder: false,
  ...checked(text, name),
});

/** The text of the file, without a byte order mark. */
function utf8Text(bytes: Buffer, file: string): string {
  // UTF-16 has zeros, which UTF-8 allows and JSON does not.
  if (isUtf8(bytes) && !bytes.includes(0)) return new TextDecoder().decode(bytes);
  throw invalid(`cannot read ${file}: it is not UTF-8`, "Save it as UTF-8.");
}

/**
 * The mapping for one command. The reference has two names; a field of another command is skipped, unless
 * this one knows the column by its own name.
 */
export function mappingFor({ map, values }: Mapping, words: Vocabulary): Mapping {
  const own = (field: string) =>
    words.isField(field) ? field : references.includes(field) ? words.reference : null;
  return {
    map: new Map(
      [...map].flatMap(([column, field]) => {
        const name = own(field);
        return name === null && words.isField(column) ? [] : [[column, name ?? "ignore"] as const];
      }),
    ),
    values: new Map(
      [...values].flatMap(([field, some]) => {
        const name = words.valued.includes(field) ? field : own(field);
        return name === null || !words.valued.includes(name) ? [] : [[name, some] as const];
      }),
    ),
  };
}

const references: readonly string[] = vocabularies.map(({ reference }) => reference);

function checked(text: string, file: string): Omit<MapFile, "name" | "isForFolder"> {
  const wrong: Wrong = (key, what, hint) =>
    invalid(`${file}:${key === null ? 1 : findLine(text, key)}: ${what}`, hint);
  const object = (value: unknown, key: string | null): Readonly<Record<string, unknown>> => {
    if (isObject(value)) return value;
    throw wrong(key, `${key === null ? "the file" : JSON.stringify(key)} is not a JSON object`, shape);
  };
  const { columns = {}, values = {}, encoding, sheets = {}, ...others } = object(parsed(text, file), null);
  const repeated = repeatedKey(text);
  if (repeated !== null)
    throw invalid(`${file}:${repeated.line}: duplicate key ${repeated.key}`, "Remove one of the two.");
  for (const key of Object.keys(others)) throw wrong(key, `unknown key ${JSON.stringify(key)}`, shape);
  const spelling = new Map<string, string>();
  const map = checkedColumns(object(columns, "columns"), spelling, wrong);
  const read = new Map<string, ReadonlyMap<string, string>>();
  for (const [field, some] of Object.entries(object(values, "values")))
    read.set(field, checkedValues(field, object(some, field), spelling, wrong));
  if (encoding !== undefined && (typeof encoding !== "string" || knownEncoding(encoding) === null))
    throw wrong("encoding", `unknown encoding ${JSON.stringify(encoding)}`, "For example windows-1252.");
  const names = Object.entries(object(sheets, "sheets"));
  const other = names.find(([, sheet]) => typeof sheet !== "string");
  if (other !== undefined)
    throw wrong(other[0], `the sheet of ${JSON.stringify(other[0])} is not a text`, shape);
  return { map, values: read, spelling, encoding, sheets: new Map(names as [string, string][]) };
}

/** The error about a key; null for the file as a whole. */
type Wrong = (key: string | null, what: string, hint: string) => UsageError;

function checkedColumns(
  columns: Readonly<Record<string, unknown>>,
  spelling: Map<string, string>,
  wrong: Wrong,
): Map<string, string> {
  const map = new Map<string, string>();
  for (const [column, field] of Object.entries(columns)) {
    if (typeof field !== "string" || !vocabularies.some(({ isField }) => isField(field))) {
      const what = `unknown field ${JSON.stringify(field)} for the column ${JSON.stringify(column)}`;
      throw wrong(column, what, fieldHint(field));
    }
    const name = normalHeader(column);
    if (map.has(name))
      throw wrong(column, `the column ${JSON.stringify(column)} is mapped twice`, "Remove one of the two.");
    map.set(name, field);
    spelling.set(name, column.trim());
  }
  return map;
}

function checkedValues(
  field: string,
  values: Readonly<Record<string, unknown>>,
  spelling: Map<string, string>,
  wrong: Wrong,
): Map<string, string> {
  const words = vocabularies.find(({ valued }) => valued.includes(field));
  if (words === undefined)
    throw wrong(field, `unknown field ${JSON.stringify(field)} in values`, fieldHint(field));
  const entries = new Map<string, string>();
  const choices = words.isOpen(field) ? undefined : words.listChoices(field);
  for (const [from, to] of Object.entries(values)) {
    if (typeof to !== "string" || (to !== "" && choices?.includes(to) === false)) {
      const what = `unknown value ${JSON.stringify(to)} for ${field} ${JSON.stringify(from)}`;
      const of = choices === undefined ? "a text" : `one of ${choices.join(", ")}`;
      throw wrong(from, what, `Use ${of}, or an empty text for no value.`);
    }
    const value = normalValue(from);
    if (entries.has(value))
      throw wrong(from, `the value ${JSON.stringify(from)} is mapped twice`, "Remove one of the two.");
    entries.set(value, to);
    spelling.set(value, from.trim());
  }
  return entries;
}

const shape = `Use { "columns": { "SKU": "reference" }, "values": { "sex": { "Damen": "female" } } }.`;

function fieldHint(field: unknown): string {
  const known = [...new Set(vocabularies.flatMap(({ freeFields }) => freeFields(new Set())))];
  const near = typeof field === "string" ? questionFor(didYouMean(field, known), "") : "";
  return near === "" ? "Use a field that import, tryon or beautify reads, or ignore." : `D${near.slice(1)}`;
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof DeepJsonError) throw invalid(`${file}:${error.line}: ${error.message}`, shape);
    const message = `${file}:${lineOfFault(text)}: it is not valid JSON`;
    throw invalid(message, "Check the commas and quotes near this line.");
  }
}

/** The first key that an object of valid JSON has twice, of which JSON.parse drops one; null without any. */
function repeatedKey(text: string): { key: string; line: number } | null {
  const objects: Set<string>[] = [];
  // Valid JSON has no text without its end.
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*"?)(\s*:)?|[{}]/g)) {
    const [token, string, colon] = match;
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    if (colon === undefined) continue;
    const keys = objects.at(-1)!;
    const key = JSON.parse(string!) as string;
    if (keys.has(key)) return { key: string!, line: lineAt(text, match.index) };
    keys.add(key);
  }
  return null;
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** The first line with which the text is no start of JSON; the last one if it ends too early. */
function lineOfFault(text: string): number {
  const lines = text.trimEnd().split("\n");
  const at = lines.findIndex((_, index) => isWrong(lines.slice(0, index + 1).join("\n")));
  return at === -1 ? lines.length : at + 1;
}

function isWrong(start: string): boolean {
  try {
    JSON.parse(start);
    return false;
  } catch (error) {
    const { message } = error as Error;
    return !/end of JSON|Unterminated/.test(message) && !message.includes(`position ${start.length}`);
  }
}

/** The first line with the key; 1 if it is written with escapes. */
function findLine(text: string, key: string): number {
  const at = text.indexOf(JSON.stringify(key));
  return at === -1 ? 1 : lineAt(text, at);
}

const invalid = (message: string, hint: string): UsageError =>
  new UsageError(message, { code: "invalid_map_file", param: "--map-file", hint });

function unreadable(name: string, error: unknown): UsageError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === undefined) throw error;
  const isGone = code === "ENOENT" || code === "ENOTDIR";
  const why = isGone ? "it does not exist" : (fileProblem(error)?.why ?? code);
  const hint = isGone ? "Check the name and the current folder." : "Check the file and its permissions.";
  return unusable(name, why, hint);
}

const unusable = (name: string, why: string, hint: string): UsageError =>
  new UsageError(`cannot read ${name}: ${why}`, { code: "map_file", param: "--map-file", hint });
