import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { extractZips } from "../../../../src/flows/export/archive/extract-zips.ts";
import { OpenFile } from "../../../../src/open-file.ts";
import { rawZip } from "../../../support/raw-zip.ts";
import { repetitions } from "../../../support/repetitions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { extracted } from "./extracting.ts";

test("extracts stored and compressed files, folders and empty files", async () => {
  const zip = rawZip([
    { name: "a.jpg", data: "one" },
    { name: "b.png", data: "two ".repeat(9_000), deflate: true },
    { name: "empty.webp" },
    { name: "empty-deflated.webp", deflate: true },
    { name: "more/", mode: 0o40755 },
    { name: "deep/er/c.jpg", data: "three" },
  ]);
  expect(await extracted([zip])).toEqual({
    result: { files: 5, bytes: 36_008, renamed: [], unlabeled: 0 },
    error: null,
    tree: {
      "a.jpg": "one",
      "b.png": "two ".repeat(9_000),
      "deep/": "",
      "deep/er/": "",
      "deep/er/c.jpg": "three",
      "empty-deflated.webp": "",
      "empty.webp": "",
      "more/": "",
    },
    left: [],
  });
});

test("extracts folders that Python and Java write: nothing, compressed", async () => {
  const folder = { deflate: true, mode: 0o40755 };
  const streamed = {
    flags: 0x0808,
    local: { flags: 0x0808, crc: 0, stored: 0, size: 0 },
    after: Buffer.alloc(16),
  };
  const zip = rawZip([
    { name: "photos/", ...folder },
    { name: "photos/a.jpg", data: "one", deflate: true },
    { name: "__MACOSX/", ...folder, raw: Buffer.from([0x01, 0, 0, 0xff, 0xff]) },
    { name: "streamed/", ...folder, ...streamed },
  ]);
  expect(await extracted([zip])).toEqual({
    result: { files: 1, bytes: 3, renamed: [], unlabeled: 0 },
    error: null,
    tree: { "__MACOSX/": "", "photos/": "", "photos/a.jpg": "one", "streamed/": "" },
    left: [],
  });
});

test("the extraction of a ZIP reads a name in UTF-8 without its flag, as Info-ZIP writes it, and others in the old character set", async () => {
  const zip = rawZip([
    { name: "caf\u00e9.jpg", data: "1", flags: 0 },
    { name: Buffer.from("caf\x82 old.jpg", "latin1"), data: "2", flags: 0 },
  ]);
  const { tree } = await extracted([zip]);
  expect(tree).toEqual({ "caf\u00e9.jpg": "1", "caf\u00e9 old.jpg": "2" });
});

test("the extraction of a ZIP gives a number to a name that an earlier archive has, in any spelling", async () => {
  const zips = [
    rawZip([
      { name: "a.jpg", data: "1" },
      { name: "b.jpg", data: "2" },
    ]),
    rawZip([
      { name: "A.jpg", data: "3" },
      { name: "a-2.jpg", data: "4" },
      { name: "c.jpg", data: "5" },
    ]),
    rawZip([
      { name: "a.jpg", data: "6" },
      { name: "deep/a.jpg", data: "7" },
    ]),
    rawZip([{ name: "deep/a.jpg", data: "8" }]),
  ];
  const { result, tree } = await extracted(zips);
  expect(tree).toEqual({
    "a.jpg": "1",
    "b.jpg": "2",
    "A-2.jpg": "3",
    "a-2-2.jpg": "4",
    "c.jpg": "5",
    "a-3.jpg": "6",
    "deep/": "",
    "deep/a.jpg": "7",
    "deep/a-2.jpg": "8",
  });
  expect(result).toEqual({
    files: 8,
    bytes: 8,
    renamed: [
      { archive: "2.zip", entry: "A.jpg", file: "A-2.jpg" },
      { archive: "2.zip", entry: "a-2.jpg", file: "a-2-2.jpg" },
      { archive: "3.zip", entry: "a.jpg", file: "a-3.jpg" },
      { archive: "4.zip", entry: "deep/a.jpg", file: "deep/a-2.jpg" },
    ],
    unlabeled: 0,
  });
});

test("the extraction of a ZIP gives a number to names that are the same on Windows only", async () => {
  const { tree } = await extracted([
    rawZip([
      { name: "a?.jpg", data: "1" },
      { name: "a*.jpg", data: "2" },
      { name: "a_.jpg", data: "3" },
    ]),
  ]);
  expect(tree).toEqual({ "a_.jpg": "1", "a_-2.jpg": "2", "a_-3.jpg": "3" });
});

test("the extraction of a ZIP makes an empty folder of an export without images", async () => {
  expect(await extracted([rawZip([])])).toMatchObject({ result: { files: 0, bytes: 0 }, tree: {}, left: [] });
});

test("extracts files of several megabytes, stored and compressed", async () => {
  const large = Array.from({ length: repetitions(3, 12) }, (_, at) => ({
    name: `${at}.jpg`,
    data: Buffer.alloc(1_000_000 + at * 300_000, `${at} `),
    deflate: at % 2 === 1,
  }));
  const { tree, error } = await extracted([rawZip(large)]);
  expect(error).toBe(null);
  for (const { name, data } of large) expect(tree?.[name] === data.toString("latin1")).toBe(true);
});

test("the extraction of a ZIP ignores the permissions in an archive", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "1.zip");
  writeFileSync(path, rawZip([{ name: "a.sh", mode: 0o106777 }]));
  const signal = new AbortController().signal;
  await extractZips({ archives: [{ path }], dir: join(folder, "out"), signal });
  expect(statSync(join(folder, "out", "a.sh")).mode & 0o7111).toBe(0);
});

/** Extracts 150 files; `onSync` runs before each sync. */
async function extractMany(onSync: (number: number, dir: string) => void) {
  const folder = temporaryFolder();
  const [path, dir] = [join(folder, "1.zip"), join(folder, "out")];
  writeFileSync(path, rawZip(Array.from({ length: 150 }, (_, at) => ({ name: `${at}.jpg`, data: `${at}` }))));
  let number = 0;
  const syncData = OpenFile.prototype.syncData;
  const spied = vi.spyOn(OpenFile.prototype, "syncData").mockImplementation(async function (this: OpenFile) {
    onSync(++number, dir);
    await syncData.call(this);
  });
  try {
    const { signal } = new AbortController();
    const result = await extractZips({ archives: [{ path }], dir, signal }).catch((error) => error);
    return { result, number, files: readdirSync(folder), dir };
  } finally {
    spied.mockRestore();
  }
}

test("the folder has its name after each of its files is on the disk", async () => {
  const early: number[] = [];
  const { number, files } = await extractMany((number, dir) => {
    if (existsSync(dir)) early.push(number);
  });
  expect([number, early, files]).toEqual([150, [], ["1.zip", "out"]]);
});

test("a disk that is full at a sync fails the extraction, names the folder, and leaves no file, open or not", async () => {
  const { result, files, dir } = await extractMany((number) => {
    if (number === 70)
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC", syscall: "fdatasync" });
  });
  expect(result).toMatchObject({
    type: "output",
    message: `cannot write ${dir}: no space left on device`,
    hint: "Free some space or choose another disk, and run the command again.",
  });
  const descriptors = existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd") : [];
  const open = descriptors.flatMap((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`);
    } catch {
      return [];
    }
  });
  expect([files, open.filter((path) => path.startsWith(dir))]).toEqual([["1.zip"], []]);
});
