import { existsSync, mkdirSync, readdirSync } from "node:fs";
import * as module from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { keepCompiledCode } from "../../src/cli/hand-over.ts";
import { spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Calls `keepCompiledCode` with or without a compile cache; returns the folders for which it enabled the cache. */
function enabled(temporary: string, env = {}, enableCompileCache: unknown = undefined) {
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folders: string[] = [];
  const withCache = { enableCompileCache: enableCompileCache ?? ((folder: string) => folders.push(folder)) };
  const getBuiltinModule = ((name: string) =>
    name === "node:module" ? withCache : process.getBuiltinModule(name)) as typeof process.getBuiltinModule;
  keepCompiledCode({ env, getBuiltinModule, getuid: () => process.getuid!() });
  return folders;
}

test("uses the default folder of Node, and creates it if missing", () => {
  const folder = temporaryFolder();
  expect(enabled(folder)).toEqual([`${folder}/node-compile-cache`]);
  expect(enabled(folder)).toEqual([`${folder}/node-compile-cache`]);
});

test("NODE_DISABLE_COMPILE_CACHE turns the cache off", () => {
  const folder = temporaryFolder();
  expect(enabled(folder, { NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("ignores a missing cache and a cache that fails", () => {
  const folder = temporaryFolder();
  expect(() => enabled(folder, {}, null)).not.toThrow();
  expect(() => keepCompiledCode({ ...process, getBuiltinModule: (() => ({})) as never })).not.toThrow();
  expect(() =>
    enabled(folder, {}, () => {
      throw new Error("no room");
    }),
  ).not.toThrow();
});

test.each(["/proc/none", "/none", "/dev/null"])(
  "leaves the cache off if the temporary folder cannot be written: %s",
  (path) => {
    expect(enabled(path)).toEqual([]);
  },
);

test("leaves the cache off if the folder belongs to another user", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node-compile-cache"));
  vi.spyOn(process, "getuid").mockReturnValue(process.getuid!() + 1);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(enabled(folder)).toEqual([]);
});

test.runIf("enableCompileCache" in module)(
  "caches the code of commands, but not for the system's cat and --version",
  async () => {
    const folder = temporaryFolder();
    const cache = join(folder, "node-compile-cache");
    const env = { TMPDIR: folder };
    await spawnCat([], { env, input: "hi" });
    await spawnCat(["--version"], { env });
    expect(existsSync(cache)).toBe(false);
    expect((await spawnCat(["--help"], { env })).exitCode).toBe(0);
    expect(readdirSync(cache)).not.toEqual([]);
  },
);
