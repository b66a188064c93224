import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { placeFile } from "../../../src/flows/files/output-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test.each([1, 2, 3_000])("places a file of %i chunks, complete and alone", async (count) => {
  const folder = temporaryFolder();
  const chunks = Array.from({ length: count }, (_, at) => Buffer.from(`chunk ${at};`));
  await placeFile(join(folder, "image.png"), chunks, { parts: folder, start: ".image-" });
  expect(readdirSync(folder)).toEqual(["image.png"]);
  expect(readFileSync(join(folder, "image.png"))).toEqual(Buffer.concat(chunks));
});

test("placing a file leaves nothing behind where the name is that of a folder", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "image.png"));
  const failing = placeFile(join(folder, "image.png"), [Buffer.from("x")], {
    parts: folder,
    start: ".image-",
  });
  await expect(failing).rejects.toMatchObject({ code: "EISDIR" });
  expect(readdirSync(folder)).toEqual(["image.png"]);
});
