import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { placeFile, UnnamedFile } from "../../../src/flows/files/output-file.ts";
import { OpenFile } from "../../../src/open-file.ts";
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

test("removes a file whose descriptor cannot be closed, and throws the error of its write", async () => {
  const folder = temporaryFolder();
  const close = vi.spyOn(OpenFile.prototype, "close").mockRejectedValue(new Error("EIO: i/o error, close"));
  try {
    const content = (async function* () {
      yield Buffer.from("x");
      throw new Error("the download was cut");
    })();
    const writing = UnnamedFile.write(content, { parts: folder, start: ".image-" });
    await expect(writing).rejects.toThrow("the download was cut");
    expect(close).toHaveBeenCalledOnce();
    expect(readdirSync(folder)).toEqual([]);
    const file = await UnnamedFile.write([Buffer.from("x")], { parts: folder, start: ".image-" });
    await expect(file.remove()).resolves.toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    close.mockRestore();
  }
});
