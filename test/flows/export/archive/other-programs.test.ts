import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { expect, type TestContext } from "vitest";
import { ZipFile } from "yazl";
import { extractZips } from "../../../../src/flows/export/archive/extract-zips.ts";
import { checkZip } from "../../../../src/flows/export/archive/zip.ts";
import { layOut } from "../../../../src/mock/exports/stored-zip.ts";
import { rawZip } from "../../../support/raw-zip.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { treeOf } from "./extracting.ts";

const signal = new AbortController().signal;

/** Skips a test where a program is missing. */
function needs({ skip }: Pick<TestContext, "skip">, program: string, flag = "--version"): void {
  let isMissing = false;
  try {
    execFileSync(program, [flag], { stdio: "ignore" });
  } catch {
    isMissing = true;
  }
  skip(isMissing, `${program} is missing`);
}

/** Bytes that do not shrink, and the same in every run. */
const noise = (seed: number, length: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 32) }, (_, at) =>
      createHash("sha256").update(`${seed} ${at}`).digest(),
    ),
  ).subarray(0, length);

const files: [name: string, bytes: Buffer][] = [
  ["REF-1_front.jpg", noise(1, 100_000)],
  ["REF-1_back.png", Buffer.alloc(40_000, "line\n")],
  ["empty.webp", Buffer.alloc(0)],
  ["large.png", noise(2, 2_500_000)],
  ["large-text.svg", Buffer.alloc(4_000_000, "<path/>")],
  ["caf\u00e9 \u{1f457} #1 (50%).jpg", noise(3, 5_000)],
  ["folder/one.jpg", noise(4, 1)],
];

/** A ZIP of another writer; `zip64` adds its fields to everything. */
async function ofYazl(
  path: string,
  { compress, zip64 }: { compress: boolean; zip64: boolean },
): Promise<void> {
  const zip = new ZipFile();
  for (const [name, bytes] of files)
    zip.addBuffer(bytes, name, { compress, forceZip64Format: zip64, mtime: new Date(0) });
  zip.end({ forceZip64Format: zip64, comment: "" });
  await pipeline(zip.outputStream, createWriteStream(path));
}

/** What the mock service serves. */
async function ofMock(path: string): Promise<void> {
  const flat = files.filter(([name]) => !name.includes("/"));
  const { parts } = layOut(
    flat.map(([name, bytes]) => ({ name, size: bytes.length, crc: crc32(bytes) })),
    Date.UTC(2026, 0, 5),
    true,
  );
  writeFileSync(path, Buffer.concat(parts.map(({ bytes, file }) => bytes ?? flat[file!]![1])));
}

const writers: [what: string, write: (path: string) => Promise<void>][] = [
  ["stored files of yazl", (path) => ofYazl(path, { compress: false, zip64: false })],
  ["compressed files of yazl", (path) => ofYazl(path, { compress: true, zip64: false })],
  ["ZIP64 files of yazl", (path) => ofYazl(path, { compress: true, zip64: true })],
  ["the mock service", ofMock],
];

/** A ZIP in a new folder, and the folder that we extract it to. */
async function ours(write: (path: string) => Promise<void>) {
  const folder = temporaryFolder();
  const path = join(folder, "a.zip");
  await write(path);
  const checked = await checkZip(path);
  const dir = join(folder, "ours");
  const { files, bytes } = await extractZips({ archives: [{ path }], dir, signal });
  expect(checked).toEqual({ files, bytes });
  return { folder, path, dir };
}

longTest.for(writers)(
  "the extraction of a ZIP writes every byte of %s, as unzip and Python's zipfile do",
  async ([, write], context) => {
    const { folder, path, dir } = await ours(write);
    const tree = treeOf(dir);
    const expected = files.filter(([name]) => name in tree);
    expect(expected.length).toBeGreaterThanOrEqual(files.length - 1);
    for (const [name, bytes] of expected) expect(Buffer.from(tree[name]!, "latin1").equals(bytes)).toBe(true);

    needs(context, "unzip", "-v");
    expect(execFileSync("unzip", ["-tq", path], { encoding: "utf8" })).toContain("No errors detected");
    const unzipped = join(folder, "unzipped");
    mkdirSync(unzipped);
    // The locale decides how unzip writes names.
    execFileSync("unzip", ["-q", path, "-d", unzipped], { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    expect(treeOf(unzipped)).toEqual(tree);

    needs(context, "python3");
    const byPython = join(folder, "by-python");
    const script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip()); z.extractall(sys.argv[2])";
    expect(execFileSync("python3", ["-c", script, path, byPython], { encoding: "utf8" })).toBe("None\n");
    expect(treeOf(byPython)).toEqual(tree);
  },
);

const pythonWriter = `
import io, sys, zipfile
class Stream(io.RawIOBase):
    def __init__(self, file): self.file = file
    def writable(self): return True
    def write(self, bytes): return self.file.write(bytes)
with open(sys.argv[1], "wb") as file:
    with zipfile.ZipFile(Stream(file) if sys.argv[2] == "stream" else file, "w", zipfile.ZIP_DEFLATED) as z:
        for name in ("folder/", "__MACOSX/"): z.writestr(name, b"")
        z.writestr("caf\\u00e9.txt", b"line" * 1000)
        with z.open("folder/one.jpg", "w", force_zip64=True) as entry: entry.write(b"one")
        z.comment = b"made by Python"
`;

import { longTest } from "../../../support/long-test.ts";

longTest.for(["stream", "file"])(
  "extracts what Python's zipfile writes to a %s, with folders",
  async (kind, context) => {
    needs(context, "python3");
    const { dir } = await ours(async (path) => {
      execFileSync("python3", ["-c", pythonWriter, path, kind]);
    });
    expect(treeOf(dir)).toEqual({
      "__MACOSX/": "",
      "caf\u00e9.txt": "line".repeat(1000),
      "folder/": "",
      "folder/one.jpg": "one",
    });
  },
);

longTest("sha256sum agrees with the bytes that were put into the ZIP", async (context) => {
  needs(context, "sha256sum");
  const { folder, dir } = await ours((path) => ofYazl(path, { compress: true, zip64: false }));
  const list = join(folder, "sums");
  const line = ([name, bytes]: (typeof files)[number]) =>
    `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`;
  writeFileSync(list, files.map(line).join(""));
  const said = execFileSync("sha256sum", ["--check", "--strict", list], { cwd: dir, encoding: "utf8" });
  expect(said).toBe(files.map(([name]) => `${name}: OK\n`).join(""));
});

longTest("a ZIP of the tests' own writer is one for unzip and Python", async (context) => {
  needs(context, "unzip", "-v");
  needs(context, "python3");
  const path = join(temporaryFolder(), "a.zip");
  writeFileSync(path, rawZip(files.map(([name, data], at) => ({ name, data, deflate: at % 2 === 1 }))));
  expect(execFileSync("unzip", ["-tq", path], { encoding: "utf8" })).toContain("No errors detected");
  expect(execFileSync("python3", ["-m", "zipfile", "-t", path], { encoding: "utf8" })).toBe("Done testing\n");
});
