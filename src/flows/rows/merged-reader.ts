// Rows of one key are read as one row (`--merge-rows`), from a private copy in which they follow each other.

import { createReadStream } from "node:fs";
import split2 from "split2";
import { isObject } from "../../json.ts";
import type { FieldNote } from "./notes.ts";
import type { InputProblem, UnreadableInput } from "./problem.ts";
import { recordBatches } from "./records.ts";
import {
  emptyColumns,
  type FieldProblem,
  type InputRow,
  photoColumns,
  photoPosition,
  type RowForm,
  type RowReader,
  uncutTexts,
} from "./row-form.ts";
import { inPart, ownPart } from "./row-parts.ts";
import { mergeOffer, placeOfUse, type SomeRows } from "./row-sets.ts";
import { TableReader } from "./table-rows.ts";

/** The rows of a file, one per line, in the order in which they are merged. */
export interface MergedCopy {
  readonly path: string;
  /** Rows of the copy that belong to the product of the row before. */
  readonly continued: SomeRows;
  /** Problems of the fields of NDJSON, which are known once all rows were read. */
  readonly headProblems: readonly InputProblem[];
  /** Where the rest of the file cannot be read. */
  readonly stopped: UnreadableInput | null;
  /** The products of several rows, and their rows. */
  readonly products: number;
  readonly rows: number;
  close(): Promise<void>;
}

export interface PackedRow {
  readonly row: InputRow;
  readonly rowIndex: number;
}

/** The symbols of a row, which JSON does not keep. */
const symbols = [emptyColumns, photoColumns, photoPosition, uncutTexts] as const;

type Content = Record<string | symbol, unknown>;

export function packRow({ row, rowIndex }: PackedRow): string {
  const { content, ...own } = row;
  const kept = isObject(content) ? symbols.map((symbol) => (content as Content)[symbol] ?? null) : [];
  return `${JSON.stringify([rowIndex, own, content, kept])}\n`;
}

function unpackRow(line: string): PackedRow {
  // Written by this process: a row may have as many levels as JSON from outside.
  const [rowIndex, own, content, kept] = JSON.parse(line) as [
    number,
    Omit<InputRow, "content">,
    Content,
    unknown[],
  ];
  for (const [index, value] of kept.entries()) if (value !== null) content[symbols[index]!] = value;
  return { rowIndex, row: { ...own, content } };
}

/** The rows of the copy in batches, those of each product together. */
export async function* groupsOf({ path, continued }: MergedCopy): AsyncGenerator<PackedRow[][]> {
  let group: PackedRow[] = [];
  let next = 0;
  for await (const lines of recordBatches<string>(createReadStream(path), split2())) {
    const groups: PackedRow[][] = [];
    for (const line of lines) {
      if (!continued.has(next++) && group.length > 0) {
        groups.push(group);
        group = [];
      }
      group.push(unpackRow(line));
    }
    if (groups.length > 0) yield groups;
  }
  if (group.length > 0) yield [group];
}

export const hasCode = ({ code }: NonNullable<InputRow["earlierReason"]>, one: string): boolean =>
  code.split(" ").includes(one);

/** Whether all of these repeat a row that is not among them, and that they may contradict. */
const isHeld = (rows: readonly InputRow[], code: string): boolean =>
  rows.every(
    ({ earlierReason }) =>
      earlierReason !== undefined &&
      hasCode(earlierReason, code) &&
      !earlierReason.message.includes(mergeOffer),
  );

/** The row that rows of one key make; a row without a key stays as it is. */
export function mergedRow(group: readonly PackedRow[], form: RowForm): InputRow {
  const rows = group.map(({ row }) => row);
  const [first] = rows as [InputRow];
  if (first.content === null || form.unique?.toKey(first.content) === undefined) return first;
  const merged = { ...form.merge!(rows.map(({ content }) => content as object)), rows };
  const { code } = form.unique;
  const { earlierReason: _, fault: __, typed: ___, ...own } = first;
  // Their repetition is what merging them resolves.
  const isKept = ({ earlierReason }: InputRow) =>
    earlierReason !== undefined && !hasCode(earlierReason, code);
  const earlierReason = (isHeld(rows, code) ? first : rows.find(isKept))?.earlierReason;
  return { ...own, content: merged.content, merged, ...(earlierReason !== undefined && { earlierReason }) };
}

export function asMerged<Reader extends RowReader>(reader: Reader, copy: MergedCopy, form: RowForm): Reader {
  const readOwn = reader.batches.bind(reader);
  const problemsOfRow = reader.problems.bind(reader);
  const notesOfRow = reader.notes.bind(reader);
  const placeOfNote = reader.notePlace.bind(reader);
  /** The rows of the file that the notes of the last row are about. */
  const noted = new WeakMap<FieldNote, InputRow>();
  return Object.assign(reader, {
    async *batches() {
      if (reader instanceof TableReader) for await (const _ of readOwn()) break;
      else (reader.headProblems as InputProblem[]).push(...copy.headProblems);
      for await (const groups of groupsOf(copy)) yield groups.map((group) => mergedRow(group, form));
      if (copy.stopped !== null) throw copy.stopped;
    },
    problems(row: InputRow) {
      if (row.merged === undefined) return problemsOfRow(row);
      const broken = row.merged.rows.filter(({ fault }) => fault !== undefined);
      // Of a row that cannot be read, nothing is looked up.
      if (broken.length > 0) return broken.flatMap((part) => problemsOfRow(part) as readonly InputProblem[]);
      const found = form.problems(row.content);
      return found instanceof Promise
        ? found.then((problems) => problemsOfParts(row, problems, reader))
        : problemsOfParts(row, found, reader);
    },
    notes: (row: InputRow) =>
      row.merged === undefined
        ? notesOfRow(row)
        : row.merged.rows.flatMap((part) => {
            const notes = notesOfRow(part);
            for (const note of notes) noted.set(note, part);
            return notes;
          }),
    notePlace(row: InputRow, note: FieldNote) {
      const own = noted.get(note);
      if (own !== undefined || row.merged === undefined) return placeOfNote(own ?? row, note);
      // A note across rows is about the merged row.
      const part = ownPart(row.merged, note.param);
      const { param } = inPart({ ...note, message: "" }, row.merged.images[part]!);
      return placeOfNote(row.merged.rows[part]!, { ...note, param });
    },
  });
}

/** Each problem at the row of the file that it comes from. */
function problemsOfParts(
  { merged }: InputRow,
  problems: readonly FieldProblem[],
  reader: RowReader,
): readonly InputProblem[] {
  const { rows, faults } = merged!;
  const ofRows = rows.map((): FieldProblem[] => []);
  for (const { row, first, ...problem } of faults) {
    const where = first === undefined ? "" : placeIn(rows[first]!.line, problem.param, reader);
    ofRows[row]!.push({ ...problem, message: problem.message + where });
  }
  for (const problem of problems) {
    const part = ownPart(merged!, problem.param);
    ofRows[part]!.push(inPart(problem, merged!.images[part]!));
  }
  return rows.flatMap((row, index) => reader.judged(row, ofRows[index]!));
}

const placeIn = (line: number, field: string | undefined, reader: RowReader): string =>
  placeOfUse({ line, file: null, ...(reader instanceof TableReader && reader.placeOfField(line, field)) });
