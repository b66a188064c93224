import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LocalFolder } from "../../../../src/flows/export/sync/local-folder.ts";
import { OutputError } from "../../../../src/flows/files/disk.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { MemoryStore } from "./memory-store.ts";
import { mirrorWorld, tree } from "./mirror-world.ts";

test("--verify reports a file that cannot be read, and checks and repairs the others", async () => {
  const { run, newMirror, catalogue } = mirrorWorld();
  for (const name of ["A", "B"]) catalogue.add(name, ["source"]);
  const stored = newMirror();
  await run(stored);
  const before = tree(stored);
  const [first, second] = Object.keys(before).filter((path) => path !== "catalogue.ndjson") as [
    string,
    string,
  ];
  stored.files.set(second, Buffer.from("damaged"));
  const readParts = MemoryStore.prototype.readParts;
  const spy = vi.spyOn(MemoryStore.prototype, "readParts").mockImplementation(function (
    this: MemoryStore,
    path,
  ) {
    if (path !== first) return readParts.call(this, path);
    const cause = Object.assign(new Error("broken"), { code: "EIO" });
    throw new OutputError(path, cause, "read");
  });
  const { summary, stopped } = await run(stored, { verify: true });
  spy.mockRestore();
  expect([stopped, summary.failed, summary.changed]).toEqual([undefined, 1, 1]);
  expect(summary.failures).toMatchObject([
    { code: "file_not_readable", message: `cannot read ${first}: the disk reported an error` },
  ]);
  expect(tree(stored)).toEqual(before);
});

test("the error of a folder read as a file says that it cannot be read", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a.jpg"));
  await expect(new LocalFolder(folder, "work").read("a.jpg")).rejects.toMatchObject({
    message: `cannot read ${folder}/a.jpg: it is a folder`,
    code: "file_not_readable",
  });
});

test("a lock that cannot be written has a next step for mirrors", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "work", "lock"), { recursive: true });
  const holder = { pid: 1, since: "2026-01-05T09:00:00.000Z" };
  await expect(new LocalFolder(folder, "work").lock(holder)).rejects.toMatchObject({
    code: "mirror_not_writable",
    hint: "Make the mirror and its hidden folder .catalogue-sync writable, or choose another folder.",
  });
});
