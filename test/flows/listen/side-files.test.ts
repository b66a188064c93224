import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EventLog } from "../../../src/flows/listen/event-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const foreign = "another program wrote it";
const fill = (text: string) => (path: string) => writeFileSync(path, text);

test.each([
  ["-shown", "a pipe", (path: string) => void execFileSync("mkfifo", [path]), "it is not a regular file"],
  ["-shown", "a folder", (path: string) => void mkdirSync(path), "it is a folder"],
  ["-shown", "a link", (path: string) => symlinkSync("other", path), "it is not a regular file"],
  ["-shown", "a text", fill("my notes"), foreign],
  ["-shown", "other JSON", fill('{"mine":4}'), foreign],
  ["-shown", "a long file", fill(" ".repeat(2_000)), foreign],
  ["-lock", "a pipe", (path: string) => void execFileSync("mkfifo", [path]), "it is not a regular file"],
  ["-lock", "a folder", (path: string) => void mkdirSync(path), "it is a folder"],
  ["-lock", "a text", fill("my notes"), foreign],
])(
  "a file %s of the user that is %s is reported and kept, and no log is created",
  async (ending, _, make, why) => {
    const path = join(temporaryFolder(), "events.ndjson");
    make(path + ending);
    const before = lstatSync(path + ending);
    await expect(EventLog.open(path)).rejects.toMatchObject({
      type: "file",
      message: `cannot use ${path}${ending} next to the event log: ${why}`,
      hint: "Move it elsewhere, or choose another log with --log FILE.",
    });
    const { ino, size } = lstatSync(path + ending);
    expect([ino, size, existsSync(path)]).toEqual([before.ino, before.size, false]);
  },
);

test("files that a killed listener left, also empty ones, are used and removed", async () => {
  const path = join(temporaryFolder(), "events.ndjson");
  for (const ending of ["-lock", "-shown"]) writeFileSync(path + ending, "");
  const log = await EventLog.open(path);
  expect(JSON.parse(readFileSync(`${path}-shown`, "utf8"))).toMatchObject({ events: 0 });
  await log.close();
  expect([existsSync(`${path}-lock`), existsSync(`${path}-shown`)]).toEqual([false, false]);
});

test("a link to the log has the lock and the mark of the log", async () => {
  const folder = temporaryFolder();
  const [path, link] = [join(folder, "events.ndjson"), join(folder, "link")];
  symlinkSync("events.ndjson", link);
  for (const [first, second] of [
    [link, path],
    [path, link],
  ] as const) {
    const log = await EventLog.open(first);
    expect(existsSync(`${path}-shown`)).toBe(true);
    await expect(EventLog.open(second)).rejects.toMatchObject({ type: "conflict", code: "log_in_use" });
    await log.close();
  }
});

test("a log with two names is rejected by both of them, and also while a listener uses it", async () => {
  const folder = temporaryFolder();
  const [path, other] = [join(folder, "events.ndjson"), join(folder, "other.ndjson")];
  const log = await EventLog.open(path);
  linkSync(path, other);
  const rejects = (name: string) =>
    expect(EventLog.open(name)).rejects.toMatchObject({
      type: "file",
      code: "has_links",
      message: `cannot use ${name} as the event log: the file has another name (hard link)`,
      hint: "Remove the other name, or choose another file with --log.",
    });
  await rejects(other);
  await log.close();
  await rejects(path);
  expect([existsSync(`${path}-lock`), existsSync(`${other}-lock`)]).toEqual([false, false]);
});
