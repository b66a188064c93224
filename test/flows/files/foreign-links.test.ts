// Links that another user has made. Only root can make them here; the others skip this.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { whereLinksLead } from "../../../src/flows/files/file-names.ts";
import { OutputFile } from "../../../src/flows/files/output-file.ts";
import { openLogFile } from "../../../src/flows/listen/log-file.ts";
import { makeFolders } from "../../../src/move-file.ts";
import { catalogueProgram } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const attacker = [54_002, 54_000] as const;
const theirs = { code: "ELINKOWNER" };

describe.runIf(process.getuid?.() === 0)("a link of another user", () => {
  function planted(target: string): { folder: string; link: string } {
    const folder = temporaryFolder();
    const link = join(folder, "link");
    writeFileSync(join(folder, "private"), "private");
    mkdirSync(join(folder, "private-folder"));
    symlinkSync(target, link);
    lchownSync(link, ...attacker);
    return { folder, link };
  }

  test.each(["private", "missing", "private-folder/missing"])("to %s is not followed", async (target) => {
    const { folder, link } = planted(target);
    const before = readdirSync(folder, { recursive: true }).sort();
    await expect(whereLinksLead(link)).rejects.toMatchObject(theirs);
    await expect(openLogFile(link)).rejects.toMatchObject({
      message: `cannot open ${link}: another user has it, or has made a link there`,
      ...theirs,
    });
    for (const overwrite of [true, "never"] as const)
      await expect(OutputFile.begin(link, overwrite, "run")).rejects.toMatchObject({
        code: "file_not_writable",
        cause: theirs,
      });
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
    expect(readFileSync(join(folder, "private"), "utf8")).toBe("private");
  });

  test("to a folder is no folder to write in", () => {
    const { folder, link } = planted("private-folder");
    expect(() => makeFolders(link)).toThrow(expect.objectContaining(theirs));
    expect(readdirSync(join(folder, "private-folder"))).toEqual([]);
  });

  test("behind a link of this user is not followed", async () => {
    const { folder } = planted("private");
    symlinkSync("link", join(folder, "mine"));
    await expect(whereLinksLead(join(folder, "mine"))).rejects.toMatchObject(theirs);
  });

  test("in place of a folder of the path is not followed, nor behind a link of this user", async () => {
    const { folder, link } = planted("private-folder");
    symlinkSync("link", join(folder, "mine"));
    mkdirSync(join(folder, "private-folder", "sub"));
    for (const path of [join(link, "new"), join(link, "sub", "new"), join(folder, "mine", "new")]) {
      await expect(whereLinksLead(path)).rejects.toMatchObject(theirs);
      expect(() => makeFolders(path)).toThrow(expect.objectContaining(theirs));
      await expect(OutputFile.begin(path, true, "run")).rejects.toMatchObject({ cause: theirs });
    }
    expect(readdirSync(join(folder, "private-folder"))).toEqual(["sub"]);
    expect(readdirSync(join(folder, "private-folder", "sub"))).toEqual([]);
  });

  test("to that user's own file is followed", async () => {
    const { folder, link } = planted("private");
    chownSync(join(folder, "private"), ...attacker);
    expect(await whereLinksLead(link)).toBe(join(folder, "private"));
  });
});

test.runIf(process.getuid?.() === 0)(
  "a user without a name writes through an own link, beside a log that another user has opened (needs root)",
  () => {
    const folder = temporaryFolder();
    const home = join(folder, "home");
    mkdirSync(home);
    mkdirSync(join(home, "there"));
    mkdirSync(join(folder, "logs"), { mode: 0o700 });
    symlinkSync("there", join(home, "link"));
    lchownSync(join(home, "link"), ...attacker);
    for (const path of [home, join(home, "there")]) chownSync(path, ...attacker);
    chmodSync(folder, 0o755);
    const log = openSync(join(folder, "logs", "log"), "w");
    const { status } = spawnSync(process.execPath, [catalogueProgram, "import", "--template", "link/t.csv"], {
      ...{ cwd: home, uid: attacker[0], gid: attacker[1], env: { CAT_HOME: join(home, "cat") } },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    expect([status, readdirSync(join(home, "there"))]).toEqual([0, ["t.csv"]]);
  },
);

test("a link of this user is followed, also to a file that does not exist, and by the event log", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "there"));
  symlinkSync("there/new", join(folder, "link"));
  expect(await whereLinksLead(join(folder, "link"))).toBe(join(folder, "there", "new"));
  const log = await openLogFile(join(folder, "link"));
  await log.append(Buffer.from("one\n"));
  await log.close();
  expect(readFileSync(join(folder, "there", "new"), "utf8")).toBe("one\n");
});

test("a circular link has no target", async () => {
  const folder = temporaryFolder();
  for (const [from, to] of ["ab", "bc", "ca"]) symlinkSync(to!, join(folder, from!));
  expect(await whereLinksLead(join(folder, "a"))).toBe(join(folder, "a"));
});
