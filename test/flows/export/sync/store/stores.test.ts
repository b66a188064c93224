import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LocalFolder } from "../../../../../src/flows/export/sync/local-folder.ts";
import { longTest } from "../../../../support/long-test.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";
import { MemoryStore, StoredFiles } from "../memory-store.ts";
import { mirrorStoreContract } from "./mirror-store-contract.ts";

const work = ".catalogue-sync/all";
const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };

/** The lock, the folder of unfinished files and what is in them are no files of the mirror. */
class Listed extends LocalFolder {
  override async *list(folder = ""): AsyncIterable<string> {
    for await (const path of super.list(folder)) if (!path.startsWith(work)) yield path;
  }
}

mirrorStoreContract("in a folder", () => {
  const folder = join(temporaryFolder(), "mirror");
  return () => new Listed(folder, work);
});
mirrorStoreContract("in memory", () => {
  const stored = new StoredFiles();
  return () => new MemoryStore(stored, { work });
});

test("a folder removes what a killed holder left unfinished, and nothing else", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, work, "parts"), { recursive: true });
  writeFileSync(join(folder, work, "parts", "put-7"), "half");
  writeFileSync(join(folder, ".a.part"), "of another program");
  const lock = await new LocalFolder(folder, work).lock(holder);
  expect("release" in lock).toBe(true);
  expect(readdirSync(join(folder, work, "parts"))).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual([".a.part", ".catalogue-sync"]);
  if ("release" in lock) await lock.release();
});

longTest("the lock of a process ends with it, even after kill -9", async () => {
  const folder = temporaryFolder();
  const script = `
    import { LocalFolder } from ${JSON.stringify(join(import.meta.dirname, "../../../../../src/flows/export/sync/local-folder.ts"))};
    const lock = await new LocalFolder(${JSON.stringify(folder)}, ${JSON.stringify(work)}).lock({ pid: process.pid, since: "" });
    process.kill(process.pid, "release" in lock ? "SIGKILL" : "SIGTERM");
  `;
  const run = () =>
    execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      cwd: join(import.meta.dirname, "../../../../.."),
    });
  expect(run).toThrow(expect.objectContaining({ signal: "SIGKILL" }));
  expect(existsSync(join(folder, work, "holder.json"))).toBe(true);
  const lock = await new LocalFolder(folder, work).lock(holder);
  expect("release" in lock).toBe(true);
  if ("release" in lock) await lock.release();
});

test.skipIf(process.platform === "win32")(
  "reading a pipe in place of a file fails, and does not wait",
  async () => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, "catalogue.ndjson")]);
    const store = new LocalFolder(folder, work);
    const problem = {
      message: `${join(folder, "catalogue.ndjson")} is not a regular file`,
      code: "file_not_readable",
    };
    await expect(store.read("catalogue.ndjson")).rejects.toMatchObject(problem);
    await expect(store.readParts("catalogue.ndjson")[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      problem,
    );
  },
);

test("an empty folder disappears with its last file, and a folder with other files stays", async () => {
  const folder = temporaryFolder();
  const store = new LocalFolder(folder, work);
  await store.put("a/b/c.jpg", [Buffer.from("x")]);
  await store.put("a/d.jpg", [Buffer.from("x")]);
  writeFileSync(join(folder, "a", "notes.txt"), "mine");
  await store.remove("a/b/c.jpg");
  expect(readdirSync(join(folder, "a")).sort()).toEqual(["d.jpg", "notes.txt"]);
  await store.rename("a/d.jpg", "e.jpg");
  expect(readdirSync(join(folder, "a"))).toEqual(["notes.txt"]);
  await store.put("a/b/c.jpg", [Buffer.from("again")]);
  expect(readFileSync(join(folder, "a/b/c.jpg"), "utf8")).toBe("again");
});

test("links that lead out of a folder are not followed, to write or to remove", async () => {
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(outside, "mine.jpg"), "mine");
  symlinkSync(outside, join(folder, "out"));
  const store = new LocalFolder(folder, work);
  const problem = { type: "output", code: "leads_outside" };
  await expect(store.put("out/a.jpg", [Buffer.from("x")])).rejects.toMatchObject(problem);
  await expect(store.put("out/deep/a.jpg", [Buffer.from("x")])).rejects.toMatchObject(problem);
  await expect(store.database("out/index.db")).rejects.toMatchObject(problem);
  await expect(store.remove("out/mine.jpg")).rejects.toMatchObject(problem);
  await expect(store.rename("out/mine.jpg", "mine.jpg")).rejects.toMatchObject(problem);
  await expect(store.read("out/mine.jpg")).rejects.toMatchObject(problem);
  expect(readdirSync(outside)).toEqual(["mine.jpg"]);
  expect(readFileSync(join(outside, "mine.jpg"), "utf8")).toBe("mine");
});

test("a link in the place of a file is replaced, and its target stays", async () => {
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(outside, "mine.jpg"), "mine");
  symlinkSync(join(outside, "mine.jpg"), join(folder, "a.jpg"));
  const store = new LocalFolder(folder, work);
  expect(await store.stat("a.jpg")).toEqual({ bytes: -1 });
  expect(await store.put("a.jpg", [Buffer.from("new")], { exclusive: true })).toBeNull();
  await store.put("a.jpg", [Buffer.from("new")]);
  expect(readFileSync(join(folder, "a.jpg"), "utf8")).toBe("new");
  expect(readFileSync(join(outside, "mine.jpg"), "utf8")).toBe("mine");
});

test("a link to a folder inside the mirror is followed", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "alias"));
  await new LocalFolder(folder, work).put("alias/a.jpg", [Buffer.from("x")]);
  expect(readdirSync(join(folder, "real"))).toEqual(["a.jpg"]);
});

test("a file in the place of a folder is an error of that path", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "mine");
  await expect(new LocalFolder(folder, work).put("a/b.jpg", [Buffer.from("x")])).rejects.toMatchObject({
    type: "output",
    code: "file_not_writable",
  });
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("mine");
});
