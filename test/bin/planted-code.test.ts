import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeEach, describe, expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

/** Two users of one group. */
const group = 64_000;
const victim = { uid: 64_001, gid: group };
const attacker = { uid: 64_002, gid: group };

/** Whether this process can act as both, and both can read the program. */
const canBeTwoUsers =
  process.getuid?.() === 0 && spawnSync(process.execPath, ["--check", catProgram], victim).status === 0;

/**
 * Puts code that creates the file MARK into all files of kept code of FOLDER: V8 takes it for that of a source of the same
 * length.
 */
const plant = `
  const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
  const { Script } = require("node:vm");
  const [parts, folder, mark] = process.argv.slice(1);
  const evil = 'require("node:fs").writeFileSync(' + JSON.stringify(mark) + ', "");';
  for (const name of readdirSync(folder)) {
    const source = readFileSync(parts + "/" + name + ".js");
    const { length } = source.toString();
    const head = "(function (module, exports, require, __import, __filename) {";
    const code = new Script(head + evil.padEnd(length) + "\\n})").createCachedData();
    const file = readFileSync(folder + "/" + name);
    const digest = file.subarray(0, 64);
    writeFileSync(folder + "/" + name, Buffer.concat([digest, code, digest, source]));
  }`;

/** A folder of caches of the victim's, and what the attacker would like to have there. */
async function twoUsers(mode: number) {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const newFolder = (name: string, owner: typeof victim, mode: number) => {
    const path = join(folder, name);
    mkdirSync(path);
    chmodSync(path, mode);
    chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const caches = newFolder("caches", mode & 0o1000 ? { uid: 0, gid: 0 } : victim, mode);
  const temporary = newFolder("temporary", { uid: 0, gid: 0 }, 0o1777);
  const own = newFolder("own", attacker, 0o755);
  const mark = join(newFolder("marks", victim, 0o777), "mark");
  const run = (user: typeof victim, XDG_CACHE_HOME: string) =>
    execa("/bin/sh", ["-c", 'umask 002; exec "$0" "$@"', process.execPath, catProgram, "whoami", "--mock"], {
      ...{ ...user, extendEnv: false, reject: false, cwd: folder },
      env: { PATH: process.env.PATH ?? "", TMPDIR: temporary, HOME: folder, XDG_CACHE_HOME },
    });
  for (const _ of [1, 2]) expect(await run(attacker, own)).toMatchObject({ exitCode: 0 });
  const planted = join(own, "catalogue");
  const [version] = readdirSync(planted);
  const parts = fileURLToPath(new URL("../../dist/program/parts", import.meta.url));
  await execa(process.execPath, ["-e", plant, parts, join(planted, version!), mark], attacker);
  return { caches, planted, mark, run: () => run(victim, caches) };
}

describe.runIf(canBeTwoUsers)("planted code (as root only)", () => {
  longTest("would run if its files were the user's", async () => {
    const { caches, planted, mark, run } = await twoUsers(0o700);
    cpSync(planted, join(caches, "catalogue"), { recursive: true });
    await execa("chown", ["-R", `${victim.uid}:${victim.gid}`, join(caches, "catalogue")]);
    await execa("chmod", ["-R", "go-rwx", join(caches, "catalogue")]);
    await run();
    expect(existsSync(mark)).toBe(true);
  });

  longTest.each([
    ["that the user's group can write", 0o775],
    ["that all can write", 0o777],
    ["that is sticky", 0o1777],
  ])("does not run from a folder of caches %s", async (_, mode) => {
    const { caches, planted, mark, run } = await twoUsers(mode);
    for (const __ of [1, 2]) expect(await run()).toMatchObject({ exitCode: 0, stderr: "" });
    const move = `const { existsSync, renameSync } = require("node:fs");
      const [from, to] = process.argv.slice(1);
      if (existsSync(to)) renameSync(to, to + "-moved");
      renameSync(from, to);`;
    const moved = await execa(process.execPath, ["-e", move, planted, join(caches, "catalogue")], {
      ...attacker,
      reject: false,
    });
    // In a sticky folder, what the user has made stays in its place.
    expect(moved.exitCode).toBe(mode & 0o1000 ? 1 : 0);
    expect(await run()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(existsSync(mark)).toBe(false);
  });

  longTest("does not run from a folder that another user has made first in a sticky one", async () => {
    const { caches, planted, mark, run } = await twoUsers(0o1777);
    renameSync(planted, join(caches, "catalogue"));
    expect(await run()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(existsSync(mark)).toBe(false);
  });
});
