import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openSource } from "../../../src/flows/import/read/source.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "source-test-"));
  return () => rm(folder, { recursive: true });
});

const open = (name: string, stdin: string | Readable = Readable.from([])) =>
  openSource(name, { cwd: folder, stdin: typeof stdin === "string" ? Readable.from([stdin]) : stdin });

async function textOf(source: Awaited<ReturnType<typeof open>>): Promise<string> {
  let text = "";
  for await (const chunk of source.read()) text += chunk.toString();
  return text;
}

const copies = () =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith("catalogue-"))
    .sort();

test("a file that is not there, a folder and an unreadable one are told in a sentence", async () => {
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

test("standard input is copied, can be read twice, and the copy goes away", async () => {
  const before = copies();
  const source = await open("-", "reference,name\n");
  expect([source.path, source.format, source.bytes]).toEqual([null, "csv", 15]);
  expect([await textOf(source), await textOf(source)]).toEqual(["reference,name\n", "reference,name\n"]);
  await source.close();
  expect(copies()).toEqual(before);
});

test("standard input that breaks leaves no copy behind", async () => {
  const before = copies();
  const broken = new Readable({
    read() {
      this.destroy(new Error("gone"));
    },
  });
  await expect(open("-", broken)).rejects.toThrow("gone");
  expect(copies()).toEqual(before);
});

test("a named pipe can be read once only, so it is copied like standard input", async () => {
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

test("a file that was changed, replaced or removed is noticed", async () => {
  await writeFile(join(folder, "a.csv"), "one");
  const source = await open("a.csv");
  await expect(source.refuseIfChanged()).resolves.toBeUndefined();
  await writeFile(join(folder, "a.csv"), "two, longer");
  await expect(source.refuseIfChanged()).rejects.toMatchObject({ code: "file_changed" });
  await rm(join(folder, "a.csv"));
  await expect(source.refuseIfChanged()).rejects.toMatchObject({ code: "file_changed" });
});
