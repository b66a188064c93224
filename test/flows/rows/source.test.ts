import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { changeError, openSource } from "../../../src/flows/rows/source.ts";
import { workbookOf } from "../../support/write-workbook.ts";

let folder: string;
let temporary: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "source-test-"));
  // Other tests copy and create folders at the same time.
  temporary = await mkdtemp(join(tmpdir(), "source-test-"));
  vi.stubEnv("TMPDIR", temporary);
  return async () => {
    vi.unstubAllEnvs();
    for (const one of [folder, temporary]) await rm(one, { recursive: true });
  };
});

const open = (name: string, stdin: string | Readable = Readable.from([])) =>
  openSource(name, {
    cwd: folder,
    stdin: () => (typeof stdin === "string" ? Readable.from([stdin]) : stdin),
  });

async function textOf(source: Awaited<ReturnType<typeof open>>): Promise<string> {
  let text = "";
  for await (const chunk of source.read()) text += chunk.toString();
  return text;
}

const copies = () => readdirSync(temporary);

test("a missing file, a folder and an unreadable file are reported with a plain error", async () => {
  await expect(open("nowhere.csv")).rejects.toMatchObject({
    type: "input",
    code: "file_not_found",
    message: "nowhere.csv does not exist",
  });
  await expect(open(".")).rejects.toMatchObject({
    code: "is_a_directory",
    message: ". is a folder, not a file",
  });
  await writeFile(join(folder, "file"), "x");
  await expect(open("file/a.csv")).rejects.toMatchObject({ code: "file_not_found" });
});

test.each([
  ["a.csv", "anything", "csv"],
  ["a.TSV", "anything", "csv"],
  ["a.jsonl", "anything", "ndjson"],
  ["a.ndjson", "anything", "ndjson"],
  ["a", '\n {"reference":"A"}', "ndjson"],
  ["a.data", "reference,name", "csv"],
])("the format of %s with %j is %s", async (name, text, format) => {
  await writeFile(join(folder, name), text);
  expect((await open(name)).format).toBe(format);
});

test("standard input is copied, can be read twice, and the copy is removed", async () => {
  const source = await open("-", "reference,name\n");
  expect(copies()).toEqual([expect.stringMatching(/^catalogue-/)]);
  expect([source.path, source.format]).toEqual([null, "csv"]);
  expect([await textOf(source), await textOf(source)]).toEqual(["reference,name\n", "reference,name\n"]);
  await source.close();
  expect(copies()).toEqual([]);
});

test("standard input that breaks leaves no copy behind", async () => {
  const broken = new Readable({
    read() {
      this.destroy(new Error("gone"));
    },
  });
  await expect(open("-", broken)).rejects.toThrow("gone");
  expect(copies()).toEqual([]);
});

test("a named pipe can be read only once, so it is copied like standard input", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const [source] = await Promise.all([open("pipe"), writeFile(pipe, "reference,name\n")]);
  onTestFinished(() => source.close());
  expect([source.path, await textOf(source), await textOf(source)]).toEqual([
    null,
    "reference,name\n",
    "reference,name\n",
  ]);
});

const descriptors = ["/dev/fd/", ...(process.platform === "linux" ? ["/proc/self/fd/"] : [])];

test.each(descriptors)("a descriptor opened by a shell, %sN, is treated like standard input", async (at) => {
  await writeFile(join(folder, "a.csv"), "reference,name\n");
  const descriptor = openSync(join(folder, "a.csv"), "r");
  onTestFinished(() => closeSync(descriptor));
  const source = await open(`${at}${descriptor}`);
  onTestFinished(() => source.close());
  expect([source.path, source.format, await textOf(source)]).toEqual([null, "csv", "reference,name\n"]);
});

test("a missing temporary folder is named, because standard input needs it", async () => {
  vi.stubEnv("TMPDIR", join(folder, "nowhere"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(open("-", "reference,name\n")).rejects.toMatchObject({
    type: "output",
    code: "no_temporary_folder",
    message: `cannot copy stdin to the temporary folder ${folder}/nowhere: no such file or folder`,
  });
});

test("a missing temporary folder is named, because the rows of a workbook are copied", async () => {
  await writeFile(join(folder, "a.xlsx"), workbookOf({ Sheet1: [["reference"], ["A"]] }));
  vi.stubEnv("TMPDIR", join(folder, "nowhere"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(open(join(folder, "a.xlsx"))).rejects.toMatchObject({
    type: "output",
    code: "no_temporary_folder",
    message: `cannot copy ${folder}/a.xlsx to the temporary folder ${folder}/nowhere: no such file or folder`,
    hint: "Set TMPDIR to a folder with enough space, in which you may write.",
  });
});

test.each([
  ["a line without an end", ""],
  ["a cell after good rows", "reference,name\nA,B\n".repeat(20_000)],
])("an endless input is cut off: %s", async (_, head) => {
  let bytes = 0;
  const stdin = Readable.from(
    (function* () {
      yield Buffer.from(head);
      for (; ; bytes += 65_536) yield Buffer.alloc(65_536, "y");
    })(),
  );
  await expect(open("-", stdin)).rejects.toMatchObject({
    type: "input",
    code: "record_too_long",
    message: "stdin has a line of more than 8 MiB",
  });
  expect(bytes).toBeLessThan(9 * 2 ** 20);
  expect(copies()).toEqual([]);
});

test("a file that was changed, replaced or removed is detected", async () => {
  await writeFile(join(folder, "a.csv"), "one");
  const source = await open("a.csv");
  await expect(source.rejectIfChanged()).resolves.toBeUndefined();
  await writeFile(join(folder, "a.csv"), "two, longer");
  const told = (what: string) => ({
    code: "file_changed",
    message: expect.stringContaining(`${what} during the run`),
  });
  await expect(source.rejectIfChanged()).rejects.toMatchObject(told("changed"));
  await rm(join(folder, "a.csv"));
  await expect(source.rejectIfChanged()).rejects.toMatchObject(told("removed"));
  expect(await changeError(source)).toMatchObject(told("removed"));
});
