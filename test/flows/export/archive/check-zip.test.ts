import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toExitCode } from "../../../../src/cli/context/errors.ts";
import { checkZip } from "../../../../src/flows/export/archive/zip.ts";
import { type RawEntry, rawZip } from "../../../support/raw-zip.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function fileOf(bytes: Buffer): string {
  const path = join(temporaryFolder(), "photos.zip");
  writeFileSync(path, bytes);
  return path;
}

const photo: RawEntry = { name: "a.jpg", data: "photo" };

test("the check of a ZIP counts the files of a ZIP and their bytes", async () => {
  const zip = rawZip([photo, { name: "more/" }, { name: "b.jpg", data: "x".repeat(5_000), deflate: true }]);
  expect(await checkZip(fileOf(zip))).toEqual({ files: 2, bytes: 5_005 });
});

test("the check of a ZIP accepts an empty ZIP, a comment and ZIP64 records", async () => {
  expect(await checkZip(fileOf(rawZip([])))).toEqual({ files: 0, bytes: 0 });
  expect(await checkZip(fileOf(rawZip([photo], { comment: Buffer.from("made by the service") })))).toEqual({
    files: 1,
    bytes: 5,
  });
  const large = { entries: 0xffff, directoryBytes: 0xffff_ffff, directoryAt: 0xffff_ffff };
  expect(await checkZip(fileOf(rawZip([photo], { zip64: {}, ...large })))).toEqual({ files: 1, bytes: 5 });
});

test("the check of a ZIP accepts sizes that follow the bytes, as in a ZIP written as a stream", async () => {
  const local = { flags: 0x0808, crc: 0, stored: 0, size: 0 };
  const zip = rawZip([
    { ...photo, flags: 0x0808, local, after: Buffer.alloc(16) },
    { name: "b.jpg", data: "b" },
  ]);
  expect(await checkZip(fileOf(zip))).toEqual({ files: 2, bytes: 6 });
});

test("the check of a ZIP leaves names to the program that extracts the ZIP", async () => {
  expect(await checkZip(fileOf(rawZip([{ ...photo, name: "../a.jpg" }])))).toEqual({ files: 1, bytes: 5 });
});

test("the check of a ZIP rejects another file under the name that users know, and exits with 7", async () => {
  const path = fileOf(Buffer.from("<html><body>Bad Gateway</body></html>"));
  const error = await checkZip(path, { shown: "photos.zip" }).catch((thrown) => thrown);
  expect(error).toMatchObject({
    type: "bad_response",
    code: "not_a_zip",
    message: "photos.zip is not a ZIP file: it does not start like one",
    hint: "Run the command again to download it again.",
  });
  expect(toExitCode(error)).toBe(7);
  await expect(checkZip(path)).rejects.toThrow(`${path} is not a ZIP file: it does not start like one`);
});

test("the check of a ZIP rejects every ZIP that ends early", async () => {
  const zip = rawZip([photo, { name: "b.jpg", data: "other", deflate: true }]);
  const path = fileOf(zip);
  const messages = new Set<string>();
  for (let length = 0; length < zip.length; length++) {
    writeFileSync(path, zip.subarray(0, length));
    const error = await checkZip(path, { shown: "z" }).catch((thrown) => thrown);
    messages.add(error.message);
  }
  expect([...messages].sort()).toEqual([
    "z is damaged: its end is missing, or other bytes follow it",
    "z is not a ZIP file: it does not start like one",
  ]);
});

test("the check of a ZIP stops at an interrupt", async () => {
  const many = rawZip(Array.from({ length: 600 }, (_, at) => ({ name: `${at}.jpg` })));
  await expect(checkZip(fileOf(many), { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow(
    "stop",
  );
});
