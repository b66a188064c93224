import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { whereLinksLead } from "../../../src/flows/files/file-names.ts";
import { OutputFile } from "../../../src/flows/files/output-file.ts";
import { whereItLeads } from "../../../src/flows/photos/find-photo.ts";
import { OpenFile } from "../../../src/open-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Records every file that is synced, without the random part of its name, and whether `path` existed by then. */
function watchSyncs(path: string) {
  const { sync } = OpenFile.prototype;
  const seen: [of: string, inPlace: boolean][] = [];
  const spy = vi.spyOn(OpenFile.prototype, "sync").mockImplementation(function (this: OpenFile) {
    seen.push([this.path.replace(/[0-9a-f]{32}(?=\.part$)/, "RANDOM"), existsSync(path)]);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}

test.each([true, false])(
  "an output file is synced to disk before it gets its name, and its folder after that (may replace: %s)",
  async (overwrite) => {
    const folder = temporaryFolder();
    const path = join(folder, "rows.csv");
    const syncs = watchSyncs(path);
    const file = await OutputFile.begin(path, overwrite, "run_1");
    await file.write("one\n");
    await file.commit();
    expect(syncs).toEqual([
      [join(folder, ".run_1_RANDOM.part"), false],
      [folder, true],
    ]);
    expect(readFileSync(path, "utf8")).toBe("one\n");
    expect(readdirSync(folder)).toEqual(["rows.csv"]);
  },
);

test("an output file leaves nothing behind when it is discarded", async () => {
  const folder = temporaryFolder();
  const file = await OutputFile.begin(join(folder, "rows.csv"), true, "run_1");
  await file.write("one\n");
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.run_1_[0-9a-f]{32}\.part$/)]);
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

test("an output file reports a circular link with a plain error", async () => {
  const path = join(temporaryFolder(), "loop");
  symlinkSync("loop", path);
  await expect(OutputFile.begin(path, true, "run_1")).rejects.toMatchObject({
    code: "file_not_writable",
    message: `cannot write ${path}: too many symbolic links`,
  });
});

test("a link over the parent of a linked folder leads where the system leads, not to a file of that name", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "shared/photos"), { recursive: true });
  mkdirSync(join(folder, "mine"));
  symlinkSync("../shared/photos", join(folder, "mine/photos"));
  const [link, mine] = [join(folder, "mine/out.csv"), join(folder, "mine/new.csv")];
  symlinkSync("photos/../new.csv", link);
  writeFileSync(mine, "mine");
  const target = join(folder, "shared/new.csv");
  expect([await whereLinksLead(link), await whereItLeads(link)]).toEqual([target, target]);
  const file = await OutputFile.begin(link, true, "run_1");
  await file.write("one");
  await file.commit();
  expect([readFileSync(link, "utf8"), readFileSync(mine, "utf8")]).toEqual(["one", "mine"]);
});
