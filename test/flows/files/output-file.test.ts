import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { OutputFile } from "../../../src/flows/files/output-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Records every fsync of a file handle: the file, and whether `path` existed by then. */
async function watchSyncs(path: string) {
  const probe = await open(".", "r");
  const handles = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const { sync } = handles;
  const seen: [of: string, inPlace: boolean][] = [];
  const spy = vi.spyOn(handles, "sync").mockImplementation(function (this: FileHandle) {
    seen.push([readlinkSync(`/proc/self/fd/${this.fd}`), existsSync(path)]);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}

// /proc shows the file of a handle.
test.runIf(process.platform === "linux").each([true, false])(
  "is synced to disk before it gets its name, and its folder after that (may replace: %s)",
  async (overwrite) => {
    const folder = temporaryFolder();
    const path = join(folder, "rows.csv");
    const syncs = await watchSyncs(path);
    const file = await OutputFile.begin(path, overwrite, "run_1");
    await file.write("one\n");
    await file.commit();
    expect(syncs).toEqual([
      [join(folder, ".run_1.part"), false],
      [folder, true],
    ]);
    expect(readFileSync(path, "utf8")).toBe("one\n");
    expect(readdirSync(folder)).toEqual(["rows.csv"]);
  },
);

test("leaves nothing behind when it is discarded", async () => {
  const folder = temporaryFolder();
  const file = await OutputFile.begin(join(folder, "rows.csv"), true, "run_1");
  await file.write("one\n");
  expect(readdirSync(folder)).toEqual([".run_1.part"]);
  await file.discard();
  expect(readdirSync(folder)).toEqual([]);
});

test("may have a name as long as the system allows", async () => {
  const path = join(temporaryFolder(), `${"n".repeat(251)}.csv`);
  const file = await OutputFile.begin(path, true, "run_1");
  await file.commit();
  expect(basename(path)).toHaveLength(255);
  expect(existsSync(path)).toBe(true);
});

test("reports a circular link with a plain error", async () => {
  const path = join(temporaryFolder(), "loop");
  symlinkSync("loop", path);
  await expect(OutputFile.begin(path, true, "run_1")).rejects.toMatchObject({
    code: "file_not_writable",
    message: `cannot write ${path}: too many symbolic links`,
  });
});
