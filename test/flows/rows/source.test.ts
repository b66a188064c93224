import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import { checkFile, isHopeless as looksHopeless } from "../../../src/flows/rows/check.ts";
import type { ReadOptions } from "../../../src/flows/rows/open-rows.ts";
import type { Problem } from "../../../src/flows/rows/problem.ts";
import { changeOf, openSource, type Source } from "../../../src/flows/rows/source.ts";

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
  openSource(name, { cwd: folder, stdin: typeof stdin === "string" ? Readable.from([stdin]) : stdin });

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
  expect([source.path, source.format, source.bytes]).toEqual([null, "csv", 15]);
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

const form = () => importForm(new Map(), new LocalPhotos({ root: folder }));

describe("an endless input is cut off once it is certain to be rejected", () => {
  /** Opens a stream that repeats a text forever after a start; returns the check result and the bytes read. */
  async function endless(start: string, again: string, read: ReadOptions = {}) {
    const block = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
    let bytes = 0;
    const stdin = Readable.from(
      (function* () {
        yield Buffer.from(start);
        for (;;) {
          bytes += block.length;
          yield block;
        }
      })(),
    );
    const isHopeless = (part: Source) => looksHopeless({ source: part, read, form: form() });
    const source = await openSource("-", { cwd: folder, stdin, isHopeless });
    onTestFinished(() => source.close());
    const codes = new Set<string>();
    const deps = { random: Math.random, onProgress: () => {} };
    const onProblem = ({ code }: Problem) => void codes.add(code);
    const { unusable } = await checkFile({ source, read, form: form() }, { ...deps, onProblem });
    return { unusable, codes: [...codes], megabytes: Math.round(bytes / 1024 / 1024) };
  }

  test.each([
    ["zeros", "", "\0", "nul_byte", 4],
    ["no rows", "", `${"y".repeat(63)}\n`, "missing_column", 4],
    ["a line", "", "y", "record_too_long", 4],
    [
      "a cell after good rows",
      `reference,name,images\n${`A,B,https://x.org/${"1".repeat(200)}.jpg\n`.repeat(20_000)}`,
      "y",
      "record_too_long",
      8,
    ],
    ["an NDJSON line", '{"reference":"', "y", "record_too_long", 8],
    ["a row of empty cells", "reference,name,images\nA,B,https://x.org/1.jpg\n", ",", "record_too_long", 8],
  ])("%s", async (_, start, again, code, megabytes) => {
    const ran = await endless(start, again);
    expect(ran).toMatchObject({ unusable: true, megabytes });
    expect(ran.codes).toContain(code);
  });
});

test("rows before the cut-off line of NDJSON are checked, and none is sent, because more may follow", async () => {
  const row = (reference: string) =>
    `{"reference":"${reference}","name":"B","images":[{"url":"https://x.org/1.jpg"}]}\n`;
  const source = await openSource("-", {
    cwd: folder,
    stdin: Readable.from([
      row("A"),
      '{"name":"',
      "é".repeat(5 * 2 ** 20),
      '"}\n',
      row("B"),
      '{"reference":"C"}\n',
    ]),
  });
  onTestFinished(() => source.close());
  const problems: string[] = [];
  const result = await checkFile(
    { source, read: {}, form: form() },
    {
      random: Math.random,
      onProgress: () => {},
      onProblem: ({ line, code }) => void problems.push(`${line} ${code}`),
    },
  );
  expect([result, problems]).toEqual([
    { total: 1, valid: 1, invalid: 0, unusable: true },
    ["2 record_too_long"],
  ]);
});

test("a long input with a valid start is read to its end", async () => {
  const text = `reference,name,images\n${"A,B,https://x.org/1.jpg\n".repeat(300_000)}`;
  const isHopeless = (part: Source) => looksHopeless({ source: part, read: {}, form: form() });
  const source = await openSource("-", {
    cwd: folder,
    stdin: Readable.from([text.slice(0, 5e6), text.slice(5e6)]),
    isHopeless,
  });
  onTestFinished(() => source.close());
  expect(source.bytes).toBe(text.length);
});

test("a name that is not UTF-8 is reported as the reason", async () => {
  await expect(open("\ufffd.csv")).rejects.toMatchObject({
    code: "file_not_found",
    message: expect.stringContaining("bytes that are not UTF-8"),
  });
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
  expect(await changeOf(source)).toMatchObject(told("removed"));
});
