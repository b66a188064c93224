import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { TextList } from "../../../src/flows/workbook/text-list.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { parts, readAll, written } from "./raw-workbook.ts";

const memory = 32 * 1024;

function useTemporaryFolder(folder: string): void {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    process.env.TMPDIR = before;
  });
}

test("texts are read as they were added, in any order, in memory and from a file", () => {
  const folder = temporaryFolder();
  useTemporaryFolder(folder);
  const text = fc
    .tuple(fc.string({ unit: "grapheme", maxLength: 20 }), fc.integer({ min: 0, max: 300 }))
    .map(([text, times]) => text.repeat(times));
  const reads = fc.array(fc.nat(400), { maxLength: 300 });
  let files = 0;
  fc.assert(
    fc.property(fc.array(text, { maxLength: 400, size: "max" }), reads, (texts, order) => {
      const list = new TextList(memory);
      for (const text of texts) list.add(text);
      list.complete();
      expect(list.length).toBe(texts.length);
      if (readdirSync(folder).length > 0) files++;
      for (const index of order) expect(list.at(index)).toBe(texts[index]);
      expect(texts.map((_, index) => list.at(index))).toEqual(texts);
      list.close();
      expect(readdirSync(folder)).toEqual([]);
    }),
    { numRuns: repetitions(15, 500) },
  );
  expect(files).toBeGreaterThan(0);
});

const unwritable = (folder: string) => ({
  code: "no_temporary_folder",
  message: `cannot write texts of the workbook to the temporary folder ${folder}: part of its path is not a folder`,
});

test("a list that cannot be written is an error of the folder", () => {
  const file = join(temporaryFolder(), "a-file");
  writeFileSync(file, "");
  useTemporaryFolder(`${file}/missing`);
  const list = new TextList(memory);
  const add = () => {
    for (let at = 0; at < 5; at++) list.add("x".repeat(memory / 4));
  };
  expect(add).toThrow(expect.objectContaining(unwritable(`${file}/missing`)));
});

longTest("a list that cannot be written is an error of the folder, not of the workbook", async () => {
  const text = `<si><t>${"x".repeat(1_000_000)}</t></si>`;
  const path = written(parts("", { "xl/sharedStrings.xml": `<sst>${text.repeat(34)}</sst>` }));
  useTemporaryFolder(`${path}/missing`);
  await expect(readAll(path)).rejects.toMatchObject(unwritable(`${path}/missing`));
});
