import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { ImportRowResult } from "../../../src/contract/resources/imports.ts";
import { importForm } from "../../../src/flows/import/import-form.ts";
import type { ImportedRow } from "../../../src/flows/import/row-result.ts";
import { inWordsOfRow } from "../../../src/flows/import/row-result.ts";
import { FailedFile } from "../../../src/flows/outputs/failed-file.ts";
import { RejectedRows } from "../../../src/flows/rows/row-sets.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import { photoFolder } from "../photos/photo-folder.ts";

/**
 * The failed file of a text whose first row was rejected, and whose second row has the images `attached`
 * attached.
 */
async function failedOf(name: string, text: string, attached: readonly number[], images: number) {
  const { folder, at, write, photosIn } = photoFolder({ "a.jpg": "a" });
  write(name, Buffer.from(text));
  const source = await openSource(at(name), { cwd: folder, stdin: () => Readable.from([]) });
  const rejectedRows = new RejectedRows();
  rejectedRows.add(0);
  const target = { path: at("failed"), name: "failed", overwrite: false, unfinished: "unfinished" };
  const form = importForm(new Map(), photosIn());
  const file = new FailedFile({ source, read: {}, form }, { rejectedRows, target, word: inWordsOfRow });
  const result = {
    status: "partial",
    images: Array.from({ length: images }, (_, index) => ({
      index,
      status: attached.includes(index) ? "attached" : "failed",
    })),
  } as unknown as ImportRowResult;
  const line = text.trimEnd().split("\n").length;
  const failure = { code: "timeout", message: "too slow" };
  await file.add({ line, result, done: attached, failure } as ImportedRow);
  await file.addRest();
  await file.commit();
  return readFileSync(at("failed"), "utf8").replaceAll(folder, "~");
}

test("a rejected row shows the problems of its photos, and a partial one keeps the failed photos as written", async () => {
  const text =
    "reference,name,images,image_1,image_1_orientation\nA,X,no.jpg,,\nB,Y, a.jpg | b_front.jpg ,c.jpg,side\n";
  expect(await failedOf("rows.csv", text, [0, 2], 3)).toBe(
    "reference,name,images,image_1,image_1_orientation,error_code,error_message\n" +
      'A,X,no.jpg,,,photo_not_found,"""no.jpg"" is not a URL, an image ID or an existing file (~/no.jpg does not exist)"\n' +
      "B,Y,b_front.jpg,,,timeout,too slow\n",
  );
});

test("the same applies in NDJSON, without an orientation taken from the file name", async () => {
  const row = (reference: string, images: object[]) => JSON.stringify({ reference, name: "X", images });
  const text = `${row("A", [{ path: "" }])}\n${row("B", [{ path: "a.jpg" }, { path: "b_front.jpg" }])}\n`;
  const failed = await failedOf("rows.ndjson", text, [0], 2);
  expect(
    failed
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      ...{ reference: "A", name: "X", images: [{ path: "" }] },
      ...{ error_code: "invalid_row", error_message: "images[0].path is empty" },
    },
    {
      ...{ reference: "B", name: "X", images: [{ path: "b_front.jpg" }] },
      ...{ error_code: "timeout", error_message: "too slow" },
    },
  ]);
});
