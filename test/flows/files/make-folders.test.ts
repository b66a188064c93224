import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolders } from "../../../src/move-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("makeFolders creates a folder with its parents, and accepts an existing one or a link to one", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "a/b/c");
  makeFolders(path);
  makeFolders(path);
  expect(statSync(path).isDirectory()).toBe(true);
  symlinkSync(path, join(folder, "link"));
  makeFolders(join(folder, "link"));
  makeFolders(join(folder, "link/d"));
  expect(existsSync(join(path, "d"))).toBe(true);
  makeFolders("/");
});

test("throws for a file in the way", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a/file"), "");
  expect(() => makeFolders(join(folder, "a/file"))).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(() => makeFolders(join(folder, "a/file/b"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
});

test("makeFolders ends where the system denies new folders with ENOENT", async ({ skip }) => {
  skip(!existsSync("/proc/self"), "/proc is missing");
  expect(() => makeFolders("/proc/catalogue-none")).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(() => makeFolders("/proc/catalogue-none/a/b")).toThrow(expect.objectContaining({ code: "ENOENT" }));
});
