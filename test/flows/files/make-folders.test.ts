import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolders } from "../../../src/flows/files/disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("creates a folder with its parents, and accepts an existing one or a link to one", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "a/b/c");
  await makeFolders(path);
  await makeFolders(path);
  expect(statSync(path).isDirectory()).toBe(true);
  symlinkSync(path, join(folder, "link"));
  await makeFolders(join(folder, "link"));
  await makeFolders(join(folder, "link/d"));
  expect(existsSync(join(path, "d"))).toBe(true);
  await makeFolders("/");
});

test("throws for a file in the way", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a/file"), "");
  await expect(makeFolders(join(folder, "a/file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolders(join(folder, "a/file/b"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

test("ends where the system denies new folders with ENOENT", async ({ skip }) => {
  skip(!existsSync("/proc/self"), "/proc is missing");
  await expect(makeFolders("/proc/catalogue-none")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(makeFolders("/proc/catalogue-none/a/b")).rejects.toMatchObject({ code: "ENOENT" });
});
