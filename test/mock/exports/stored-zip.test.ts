import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ZipFile as Yazl } from "yazl";
import { layOut, type ZipLayout } from "../../../src/mock/exports/stored-zip.ts";
import { longTest } from "../../support/long-test.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Entry {
  name: string;
  bytes: Buffer;
}
const measured = (entries: Entry[]) =>
  entries.map(({ name, bytes }) => ({ name, size: bytes.length, crc: crc32(bytes) }));
const written = ({ parts }: ZipLayout, entries: Entry[]) =>
  Buffer.concat(parts.map((part) => part.bytes ?? entries[part.file]!.bytes));

/** A date that reads as UTC, because yazl writes local time. */
class UtcDate extends Date {
  override getFullYear = () => this.getUTCFullYear();
  override getMonth = () => this.getUTCMonth();
  override getDate = () => this.getUTCDate();
  override getHours = () => this.getUTCHours();
  override getMinutes = () => this.getUTCMinutes();
  override getSeconds = () => this.getUTCSeconds();
}

/** The same files, written by another library. */
async function byYazl(entries: Entry[], modified: number, forceZip64Format: boolean): Promise<Buffer> {
  const zip = new Yazl();
  const options = { compress: false, mtime: new UtcDate(modified), mode: 0o100664, forceZip64Format };
  for (const { name, bytes } of entries) zip.addBuffer(bytes, name, options);
  zip.end({ forceZip64Format, comment: "" });
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const names = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .map((name) => name.replaceAll(/[/\\:.\0]/g, "_"));
const files = fc.array(
  fc.record({ name: names, bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) }),
  { maxLength: 8 },
);
const moments = fc.integer({ min: Date.UTC(1980, 0, 1), max: Date.UTC(2037, 11, 31) });

describe("a ZIP", () => {
  test("has the same bytes as one from yazl, with ZIP64 and without", async () => {
    await fc.assert(
      fc.asyncProperty(files, moments, fc.boolean(), async (entries, modified, force64) => {
        const layout = layOut(measured(entries), modified, force64);
        const bytes = written(layout, entries);
        expect(bytes.equals(await byYazl(entries, modified, force64))).toBe(true);
        expect(layout.size).toBe(bytes.length);
        let at = 0;
        for (const part of layout.parts) {
          expect([part.at, part.bytes?.length ?? entries[part.file!]!.bytes.length]).toEqual([at, part.size]);
          at += part.size;
        }
      }),
    );
  });

  longTest("uses ZIP64 for more files than 16 bits can count", async () => {
    for (const [count, is64] of [
      [65_534, false],
      [65_535, true],
    ] as const) {
      const entries = Array.from({ length: count }, (_, at) => ({ name: `${at}`, bytes: Buffer.alloc(0) }));
      const layout = layOut(measured(entries), 0);
      const end = layout.parts.at(-1)!.bytes!;
      expect([end.includes("PK\u0006\u0006"), layout.size]).toEqual([is64, written(layout, entries).length]);
    }
  });

  test.each([
    ["before 1980", Date.UTC(1950, 0, 1), [1980, 1, 1, 0, 0, 0]],
    ["after 2107", Date.UTC(9999, 0, 1), [2107, 12, 31, 23, 59, 58]],
    ["in between", Date.UTC(2026, 0, 5, 9, 30, 41), [2026, 1, 5, 9, 30, 40]],
  ])("has a valid time for %s", (_name, modified, expected) => {
    const [header] = layOut([{ name: "a", size: 0, crc: 0 }], modified).parts;
    const [time, date] = [header!.bytes!.readUInt16LE(10), header!.bytes!.readUInt16LE(12)];
    const day = [(date >> 9) + 1980, (date >> 5) & 15, date & 31];
    expect([...day, time >> 11, (time >> 5) & 63, (time & 31) * 2]).toEqual(expected);
  });
});

/** Whether a program is installed; if not, its tests are skipped. */
function has(program: string, ...args: string[]): boolean {
  const isThere = spawnSync(program, args, { stdio: "ignore" }).status === 0;
  if (!isThere) process.stderr.write(`${program} is not on this machine: its test of ZIPs is skipped\n`);
  return isThere;
}
const entries: Entry[] = [
  { name: "DRESS-0001_front.jpg", bytes: Buffer.alloc(100_000, "front") },
  { name: "Ärmel_日本_\u{1f457}.png", bytes: Buffer.from("x") },
  { name: "empty.webp", bytes: Buffer.alloc(0) },
];
const python = (script: string, file: string): unknown =>
  JSON.parse(execFileSync("python3", ["-c", script, file], { encoding: "utf8" }));

describe.each([
  ["plain", false],
  ["ZIP64", true],
])("a %s ZIP can be read by", (_name, force64) => {
  const fileOf = () => {
    const file = join(temporaryFolder(), "test.zip");
    writeFileSync(file, written(layOut(measured(entries), Date.UTC(2026, 0, 5, 9), force64), entries));
    return file;
  };

  longTest.skipIf(!has("unzip", "-v"))("unzip -t", () => {
    const output = execFileSync("unzip", ["-t", fileOf()], { encoding: "utf8" });
    expect(output).toContain("No errors detected");
  });

  longTest.skipIf(!has("python3", "--version"))("Python's zipfile", () => {
    const script = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([archive.testzip(), [[e.filename, e.file_size, e.compress_type, list(e.date_time)] for e in archive.infolist()]]))`;
    const time = [2026, 1, 5, 9, 0, 0];
    expect(python(script, fileOf())).toEqual([
      null,
      entries.map(({ name, bytes }) => [name, bytes.length, 0, time]),
    ]);
  });
});

longTest.skipIf(!has("python3", "--version"))("Python finds every file beyond 4 GB with ZIP64", () => {
  // 520 files of 9 MB of zeros in a sparse file, which takes a few kilobytes on disk.
  const zeros = Buffer.alloc(9_000_000);
  const crc = crc32(zeros);
  const large = Array.from({ length: 520 }, (_, at) => ({ name: `${at}.jpg`, size: zeros.length, crc }));
  const layout = layOut(large, Date.UTC(2026, 0, 5));
  expect(layout.size).toBeGreaterThan(2 ** 32);
  const path = join(temporaryFolder(), "large.zip");
  const file = openSync(path, "w");
  for (const part of layout.parts)
    if (part.bytes !== undefined) writeSync(file, part.bytes, 0, part.size, part.at);
  ftruncateSync(file, layout.size);
  closeSync(file);
  const script = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
print(json.dumps([len(names), len(archive.read("0.jpg")), len(archive.read("519.jpg"))]))`;
  expect(python(script, path)).toEqual([520, 9_000_000, 9_000_000]);
});
