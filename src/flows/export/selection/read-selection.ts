import { ulidPattern } from "../../../contract/limits.ts";
import { seenText, withoutUnseenEnds } from "../../../text.ts";
import { unguardedCell } from "../../outputs/formulas.ts";
import type { CsvReader } from "../../rows/csv-rows.ts";
import type { EncodingName } from "../../rows/encoding.ts";
import {
  type ColumnMap,
  judgeColumns,
  type Mapping,
  mappedHeader,
  valueRead,
  valuesOfColumn,
  valuesRead,
} from "../../rows/mapped-columns.ts";
import { type FileNote, FileNotes } from "../../rows/notes.ts";
import { openRows, type RowFile } from "../../rows/open-rows.ts";
import { type InputProblem, missingColumn, UnreadableInput } from "../../rows/problem.ts";
import type { FieldProblem, RowColumns, RowForm } from "../../rows/row-form.ts";
import { normalHeader } from "../../rows/row-form.ts";
import type { Source } from "../../rows/source.ts";
import { TableReader } from "../../rows/table-rows.ts";
import { utf8Chunks } from "../../rows/text.ts";
import {
  imageColumn,
  productsKind,
  type SelectionColumn,
  type SelectionKind,
  selectionColumns,
} from "./columns.ts";
import { type Selection, type WantedProduct, withoutRepetitions } from "./selection.ts";

export interface SelectionReading extends Mapping {
  readonly delimiter?: string | undefined;
  readonly encoding: EncodingName;
}

/** Reads a table or a list (one per line). An empty file is a problem: it would mean the entire catalogue. */
export async function readSelection(
  source: Source,
  reading: SelectionReading,
  kind = productsKind,
): Promise<{ selection: Selection; problems: readonly InputProblem[]; notes: readonly FileNote[] }> {
  const wanted: WantedProduct[] = [];
  const notes = new FileNotes();
  const problems: InputProblem[] = [];
  try {
    const file: RowFile = { source, read: reading, form: selectionForm(reading, kind) };
    const isTable =
      kind.namesPhotos || source.format !== "csv" || namesColumn(reading) || (await hasHeader(file));
    const products = isTable ? readTable(file, { problems, notes }) : readList(source, reading);
    for await (const product of products) wanted.push(product);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    problems.push(error.problem);
  }
  if (wanted.length === 0 && problems.length === 0)
    problems.push({
      line: 1,
      code: "empty_file",
      message: `the file names no ${kind.namesPhotos ? "photos" : "products"}`,
    });
  return {
    selection: { file: source.name, wanted: withoutRepetitions(wanted) },
    problems,
    notes: notes.list(),
  };
}

/** Whether the mapping is for a column, which a list does not have. */
const namesColumn = ({ map, values }: Mapping): boolean =>
  map.size > 0 || [...values.keys()].some((name) => !productsKind.words.valued.includes(name));

/** Whether the first line has one of the columns, or another name of one. */
async function hasHeader(file: RowFile): Promise<boolean> {
  const reader = (await openRows(file)) as CsvReader;
  try {
    for await (const _ of reader.batches()) break;
  } catch (error) {
    // A list may contain anything; its reader judges the encoding again.
    if (!(error instanceof UnreadableInput)) throw error;
  }
  const { nearest } = productsKind.words;
  return reader.header.some((cell) => file.form.isColumn(cell) || nearest(cell).length > 0);
}

async function* readTable(
  file: RowFile,
  { problems, notes }: { problems: InputProblem[]; notes: FileNotes },
): AsyncGenerator<WantedProduct> {
  const reader = await openRows(file);
  for await (const rows of reader.batches()) {
    if (reader.headProblems.some(({ code }) => code === "missing_column")) break;
    for (const row of rows) {
      const rowProblems = await reader.problems(row);
      problems.push(...rowProblems);
      const named = rowProblems.length === 0 ? nameIn(row.content as object) : null;
      const isInSheet = file.source.sheet !== undefined && reader instanceof TableReader;
      const place = isInSheet ? { place: reader.placeOfReference(row.line) } : {};
      if (named !== null) yield { ...named, line: row.line, ...place };
    }
  }
  problems.unshift(...reader.headProblems);
  notes.addHead(reader);
}

/** The products of a list, without blank lines and the quotes that spreadsheets write. */
async function* readList(
  source: Source,
  { encoding, values }: SelectionReading,
): AsyncGenerator<WantedProduct> {
  // A line may be a reference or an ID.
  const read = new Map(["id", "product_id", "reference"].flatMap((name) => [...(values.get(name) ?? [])]));
  const decoder = new TextDecoder();
  let rest = "";
  let line = 0;
  const products = (texts: readonly string[]): WantedProduct[] =>
    texts.flatMap((text) => {
      line++;
      const typed = valueRead(unquoted(seenText(text)), read);
      const id = withoutUnseenEnds(typed);
      const name = ulidPattern.test(id) ? id : seenText(typed);
      return name === "" ? [] : { name, as: "either", line };
    });
  for await (const chunk of utf8Chunks(source.read(), encoding)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?=[^\n])/);
    rest = lines.pop()!;
    yield* products(lines);
    if (rest.length > longestLine)
      throw new UnreadableInput({
        line: line + 1,
        code: "wrong_format",
        message: "the line is too long for a product: use one ID or reference per line",
      });
  }
  yield* products([rest]);
}

/** No ID or reference is nearly as long (Limits). */
const longestLine = 64 * 1024;

const unquoted = (text: string): string =>
  /^"(?:[^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"').trim() : text;

type Cells = Partial<Record<SelectionColumn, unknown>>;

const toColumn = (header: string, map: ColumnMap, { columns }: SelectionKind): SelectionColumn | null => {
  const name = normalHeader(mappedHeader(header, map));
  return columns.find((known) => known === name) ?? null;
};

/** The rows of a file with a header, or of objects: other columns are ignored. */
export const selectionForm = (mapping: Mapping, kind = productsKind): RowForm => ({
  isColumn: (header) => toColumn(header, mapping.map, kind) !== null,
  words: kind.words,
  columns(header, line, report) {
    const columns = toColumns(header, mapping, kind);
    const { words } = kind;
    if (header.length === 0) return columns;
    judgeColumns(header, columns.names, mapping, words, (problem) => report({ line, ...problem }));
    if (kind.namesPhotos && !columns.names.includes(imageColumn))
      report(
        missingColumn(
          line,
          imageColumn,
          `missing column "${imageColumn}": add it, with an ID of a photo in each row`,
        ),
      );
    if (columns.referenceColumn === -1) {
      const missing = `missing column "reference", "product_id" or "id"`;
      const near = header.find(
        (cell) => words.nearest(cell).length > 0 && !mapping.map.has(normalHeader(cell)),
      );
      report(
        near === undefined
          ? missingColumn(line, "reference", `${missing}: add one of them as a header above the products`)
          : {
              ...missingColumn(line, near.trim(), `${missing}: rename "${near.trim()}"`),
              mapsTo: ["reference"],
            },
      );
    }
    return columns;
  },
  objects: {
    map: mapping.map,
    words: kind.words,
    fields: kind.columns,
    flat: kind.namesPhotos ? (object) => object : toCells,
  },
  fromObject: (object) => valuesRead(object, mapping.values),
  problems: (row) =>
    isRow(row)
      ? selectionProblems(row, kind)
      : [{ code: "invalid_row", message: "a row must be a JSON object" }],
  readReference: (row) => (isRow(row) ? nameIn(row)?.name : undefined),
  withoutDone: (object) => object,
});

/** The product that a row names; null if it names none. */
function nameIn(row: Cells): Omit<WantedProduct, "line"> | null {
  const imageId = withoutUnseenEnds(cellText(row[imageColumn]));
  for (const column of selectionColumns) {
    const name = cellText(row[column]);
    const as = column.endsWith("reference") ? "reference" : "id";
    if (name !== "")
      return {
        name: as === "id" ? withoutUnseenEnds(name) : name,
        as,
        ...(imageId !== "" && { imageId }),
      };
  }
  return null;
}

/** Any JSON value may be on a line of NDJSON. */
const isRow = (row: unknown): row is Cells => typeof row === "object" && row !== null && !Array.isArray(row);

const cellText = (cell: unknown): string => (typeof cell === "string" ? seenText(cell) : "");

/** The product of a line of NDJSON: also that of a line of an export. */
function toCells(object: Record<string, unknown>): Record<string, unknown> {
  const { product } = object;
  return typeof product === "object" && product !== null ? (product as Record<string, unknown>) : object;
}

function selectionProblems(row: Cells, { namesPhotos }: SelectionKind): readonly FieldProblem[] {
  const photo = namesPhotos ? photoProblems(withoutUnseenEnds(cellText(row[imageColumn]))) : [];
  const named = nameIn(row);
  if (named === null) {
    const message = "names no product: fill in the ID or the reference, or remove the row";
    return [{ code: "invalid_row", message }, ...photo];
  }
  if (named.as !== "id" || ulidPattern.test(named.name)) return photo;
  const message = `${JSON.stringify(named.name)} is not a product ID: for your own product codes, name the column reference`;
  return [
    { param: selectionColumns.find((column) => cellText(row[column]) !== ""), code: "invalid_row", message },
    ...photo,
  ];
}

function photoProblems(id: string): readonly FieldProblem[] {
  if (ulidPattern.test(id)) return [];
  const why = id === "" ? "names no photo" : `${JSON.stringify(id)} is not an image ID`;
  const message = `${why}: use an ID of cat products get`;
  return [{ param: imageColumn, code: "invalid_row", message }];
}

function toColumns(
  header: readonly string[],
  { map, values }: Mapping,
  kind: SelectionKind,
): RowColumns & { readonly names: readonly (SelectionColumn | null)[] } {
  const names = header.map((cell) => toColumn(cell, map, kind));
  const read = header.map((cell, at) => valuesOfColumn(cell, names[at]!, values, kind.words));
  return {
    names,
    referenceColumn: names.findIndex((name) => name !== null && name !== imageColumn),
    toRow(record) {
      const row: Cells = {};
      for (const [at, name] of names.entries())
        if (name !== null) row[name] ??= valueRead(unguardedCell(record[at]!), read[at]);
      return row;
    },
    strayCell: () => null,
    cellProblems: () => [],
    columnOfPath: (path) => {
      const at = names.indexOf(path as never);
      return at === -1 ? null : at;
    },
    withoutDone: (record) => record,
  };
}
