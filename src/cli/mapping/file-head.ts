import type { EncodingName } from "../../flows/rows/encoding.ts";
import type { Mapping, ValueMap } from "../../flows/rows/mapped-columns.ts";
import type { ObjectFields } from "../../flows/rows/object-fields.ts";
import { openRows, type ReadOptions } from "../../flows/rows/open-rows.ts";
import { UnreadableInput } from "../../flows/rows/problem.ts";
import { type InputRow, normalHeader, type RowForm } from "../../flows/rows/row-form.ts";
import type { Source } from "../../flows/rows/source.ts";
import { TableReader } from "../../flows/rows/table-rows.ts";
import type { ValueMapping, Vocabulary } from "../../flows/rows/vocabulary.ts";
import type { MapFile } from "./map-file.ts";
import type { UnsavedMapping } from "./map-flags.ts";

/** The maximum number of characters of a header or a value that is shown. */
export const shownLength = 40;

export interface FileMapping extends Mapping {
  readonly encoding: EncodingName;
  readonly unsaved?: UnsavedMapping;
}

export interface MappedFile {
  /** As typed; `-` is standard input. */
  readonly file: string;
  readonly source: Source;
  readonly read: ReadOptions;
  readonly flags: Mapping & { readonly mapFile: string | undefined };
  /** The files of mappings, as this command reads them; the first one wins. */
  readonly mapFiles: readonly MapFile[];
  readonly form: (mapping: Mapping) => RowForm;
  readonly words: Vocabulary;
  /** Fields that the rows get from elsewhere, and need no column for. */
  readonly added?: readonly string[];
}

export interface FileHead {
  /** Null for objects, each of which may have other fields. */
  readonly header: readonly string[] | null;
  /** The normal names of columns, or of fields of the first objects, that are mapped. */
  readonly mapped: ReadonlySet<string>;
  readonly fields: ReadonlySet<string>;
  /** The unknown columns by normal header: the header as it is, and an example of a cell. */
  readonly unknown: ReadonlyMap<string, { readonly title: string; readonly sample: string }>;
}

type Readable = Pick<MappedFile, "source" | "read">;

/** The head of a file; null for one that cannot be read: the check reports why. */
export async function readHead({ source, read }: Readable, form: RowForm): Promise<FileHead | null> {
  const reader = await openRows({ source, read, form });
  const isTable = reader instanceof TableReader;
  const records: (readonly string[])[] = [];
  let count = 0;
  try {
    for await (const rows of reader.batches()) {
      count += rows.length;
      // Each object has fields of its own.
      if (!isTable && count < searchedRows) continue;
      if (isTable) records.push(...rows.slice(0, 5).map((row) => row.record as readonly string[]));
      break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
  if (!isTable) return reader.fields === null ? null : headOfObjects(reader.fields);
  // With a wrong delimiter the header is not split into its columns.
  if (reader.headProblems.some(({ code }) => code === "wrong_format")) return null;
  const { header } = reader;
  const unknown = new Map<string, { title: string; sample: string }>();
  for (const [index, title] of header.entries()) {
    const name = normalHeader(title);
    // A form knows the columns of a failed file.
    if (name === "" || form.isColumn(title) || unknown.has(name)) continue;
    const cells = records.map((record) => record[index]?.trim() ?? "");
    unknown.set(name, { title: title.trim(), sample: cells.find((cell) => cell !== "") ?? "" });
  }
  const fields = new Set(reader.columns.names.filter((name) => name !== null));
  return { header, mapped: new Set(header.map(normalHeader)), fields, unknown };
}

function headOfObjects({ known, unknown, mapped }: ObjectFields): FileHead {
  const titles = new Map(
    [...unknown].map(([name, { title, value }]) => {
      const sample = typeof value === "string" ? value.trim() : (JSON.stringify(value) ?? "");
      return [name, { title, sample }];
    }),
  );
  return { header: null, mapped, fields: known, unknown: titles };
}

/** So many rows are searched for values: a person waits. */
const searchedRows = 20_000;

export interface WrongValue extends ValueMapping {
  rows: number;
}

/** The values of the first rows that are not choices, in the order of the file. */
export async function wrongValues({ source, read }: Readable, form: RowForm): Promise<WrongValue[]> {
  const wrong = new Map<string, WrongValue>();
  for await (const rows of firstRows({ source, read }, form)) {
    for (const { content } of rows) {
      const problems = await form.problems(content);
      const fixes = problems.map(({ valueFix }) => valueFix);
      for (const valueFix of [...fixes, ...(form.unlistedValues?.(content) ?? [])]) {
        if (valueFix === undefined) continue;
        const key = JSON.stringify([valueFix.field, normalHeader(valueFix.from)]);
        const known = wrong.get(key) ?? { ...valueFix, rows: 0 };
        known.rows++;
        wrong.set(key, known);
      }
    }
  }
  return [...wrong.values()];
}

/** The mapped values that the first rows have, for the form that reads them. */
export async function usedValues(
  file: Readable,
  form: (values: ValueMap) => RowForm,
  values: ValueMap,
): Promise<ValueMap> {
  const recorded = new Map([...values].map(([field, some]) => [field, new RecordedValues(some)]));
  const isUsed = (some: RecordedValues) => some.used.size === some.size;
  if (![...recorded.values()].every(isUsed))
    for await (const _ of firstRows(file, form(recorded))) if ([...recorded.values()].every(isUsed)) break;
  return new Map(
    [...recorded].map(([field, some]) => [field, new Map([...some].filter(([from]) => some.used.has(from)))]),
  );
}

/** Values that know which of them were read. */
class RecordedValues extends Map<string, string> {
  readonly used = new Set<string>();

  override get(from: string): string | undefined {
    const to = super.get(from);
    if (to !== undefined) this.used.add(from);
    return to;
  }
}

/** The first rows of a file, in batches, up to where it cannot be read: the check reports why. */
async function* firstRows({ source, read }: Readable, form: RowForm): AsyncGenerator<InputRow[]> {
  let count = 0;
  try {
    for await (const rows of (await openRows({ source, read, form })).batches()) {
      yield rows;
      count += rows.length;
      if (count >= searchedRows) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
}
