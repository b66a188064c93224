import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { createEncoder, encodingOfFailedFile } from "../../../src/flows/outputs/encoded-file.ts";
import { FailedFile } from "../../../src/flows/outputs/failed-file.ts";
import { guardedCell } from "../../../src/flows/outputs/formulas.ts";
import type { CsvReader } from "../../../src/flows/rows/csv-rows.ts";
import { openRows, type ReadOptions } from "../../../src/flows/rows/open-rows.ts";
import type { RowForm } from "../../../src/flows/rows/row-form.ts";
import { RejectedRows } from "../../../src/flows/rows/row-sets.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Encodings with letters that each of them has, and their --encoding values. */
const kinds = [
  { encoding: "utf-8", letters: "aé女😀", flag: undefined, mark: false },
  { encoding: "utf-8", letters: "aé女😀", flag: undefined, mark: true },
  { encoding: "utf-8", letters: "aé女😀", flag: "utf-8", mark: false },
  { encoding: "utf-16le", letters: "aéĀ女😀", flag: undefined, mark: true },
  { encoding: "utf-16be", letters: "aéĀ女😀", flag: undefined, mark: true },
  { encoding: "utf-16le", letters: "aéĀ女😀", flag: "utf-16le", mark: false },
  { encoding: "utf-16be", letters: "aéĀ女😀", flag: "utf-16", mark: true },
  { encoding: "windows-1252", letters: "a€üß–", flag: "windows-1252", mark: false },
  { encoding: "macintosh", letters: "a€üßΩ", flag: "macintosh", mark: false },
  { encoding: "windows-1251", letters: "aЖя№", flag: "windows-1251", mark: false },
  { encoding: "shift_jis", letters: "a女ｱソ表", flag: "shift_jis", mark: false },
  { encoding: "gbk", letters: "a女€", flag: "gbk", mark: false },
  { encoding: "euc-jp", letters: "a女丂", flag: "euc-jp", mark: false },
] as const;

const anyCharacter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
/** Characters a message may have that no readable file can contain. */
const notHeld = ["\0", "\ud800", "\udfff"];

const input = fc.constantFrom(...kinds).chain((kind) => {
  const cell = fc
    .array(fc.constantFrom(...kind.letters, ..."bc,;|\t\" '=", "\n", "\r\n"), { maxLength: 8 })
    .map((characters) => characters.join(""));
  return fc.record({
    kind: fc.constant(kind),
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
    sep: fc.boolean(),
    rows: fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 }),
    message: fc.string({
      unit: fc.oneof(anyCharacter, fc.constantFrom(...kind.letters, ...notHeld)),
      maxLength: 12,
    }),
  });
});

/** A message as read back: impossible characters as U+FFFD, those the encoding lacks as question marks. */
function readable(message: string, encoding: string): string {
  const held = Buffer.from(message, "utf8").toString().replaceAll("\0", "\ufffd");
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  // The second call flushes the first; a call without `stream` would use another table.
  return decoder.decode(createEncoder(encoding, () => "?")(held), { stream: true }) + decoder.decode();
}

async function recordsOf(path: string, read: ReadOptions, form: RowForm) {
  const source = await openSource(path, { cwd: "/", stdin: () => process.stdin });
  const reader = (await openRows({ source, read, form })) as CsvReader;
  const records: (readonly string[])[] = [];
  for await (const rows of reader.batches())
    records.push(...rows.map((row) => row.record as readonly string[]));
  return { source, reader, records, header: reader.header };
}

describe("a failed file", () => {
  test("has the cells, delimiter, line ends and encoding of its input, and is read by the printed command", async () => {
    const folder = temporaryFolder();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(input, async ({ kind, delimiter, lineEnd, sep, rows, message }) => {
        const header = ["reference", "name", "images", "Größe".replace(/[öß]/g, kind.letters[1]!)];
        const text =
          (kind.mark ? "\ufeff" : "") +
          (sep ? `sep=${delimiter}${lineEnd}` : "") +
          stringify(
            [
              header,
              ...rows.map(([name, own], row) => [`R${row}`, name, "https://cdn.example.com/a.jpg", own]),
            ],
            { delimiter, record_delimiter: lineEnd, quote_record_delimiter: true },
          );
        const path = join(folder, `${++run}.csv`);
        const failedPath = join(folder, `${run}.failed.csv`);
        writeFileSync(path, createEncoder(kind.encoding, () => "!")(text));
        const map = new Map([[header[3]!.toLowerCase(), "ignore"]]);
        const read = { encoding: kind.flag };

        const form = importForm(map);
        const before = await recordsOf(path, read, form);
        const target = { path: failedPath, name: failedPath, overwrite: true, unfinished: `${run}` };
        const failed = new FailedFile(
          { source: before.source, read, form },
          { rejectedRows: new RejectedRows(), target, word: (_, { failure }) => failure! },
        );
        for await (const batch of (await openRows({ source: before.source, read, form })).batches()) {
          for (const { line } of batch) await failed.add({ line, failure: { code: "not_sent", message } });
        }
        expect(await failed.commit()).toBe(1);

        const after = await recordsOf(failedPath, { encoding: encodingOfFailedFile(kind.flag) }, form);
        expect(after.reader.headProblems).toEqual([]);
        expect(after.header).toEqual([...before.header, "error_code", "error_message"]);
        const reason = ["not_sent", readable(guardedCell(message), kind.encoding)];
        expect(after.records).toEqual(before.records.map((record) => [...record, ...reason]));
        expect(after.reader.dialect).toEqual(before.reader.dialect);
      }),
      { numRuns: repetitions(3, 600) },
    );
  });
});
