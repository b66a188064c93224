import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { moveToName } from "../../../src/flows/files/file-names.ts";
import { moveFile } from "../../../src/move-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const disk = vi.hoisted(() => ({ hasLinks: true }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    linkSync: (...args: Parameters<typeof fs.linkSync>) => {
      if (disk.hasLinks) return fs.linkSync(...args);
      throw Object.assign(new Error("no links"), { code: "EOPNOTSUPP" });
    },
  };
});

describe.for([true, false])("on a disk with hard links: %j", (hasLinks) => {
  const place = () => {
    disk.hasLinks = hasLinks;
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at("new"), "new");
    return {
      at,
      names: () => readdirSync(folder).sort(),
      read: (name: string) => readFileSync(at(name), "utf8"),
    };
  };

  test("a file gets a free name", async () => {
    const { at, names, read } = place();
    expect(moveFile(at("new"), at("a.csv"), true)).toBe(true);
    expect([names(), read("a.csv")]).toEqual([["a.csv"], "new"]);
  });

  test("a taken name stays, and the file where it was", async () => {
    const { at, names, read } = place();
    writeFileSync(at("a.csv"), "old");
    expect(moveFile(at("new"), at("a.csv"), true)).toBe(false);
    expect([names(), read("a.csv")]).toEqual([["a.csv", "new"], "old"]);
  });

  test("an agreed name is replaced", async () => {
    const { at, names, read } = place();
    writeFileSync(at("a.csv"), "old");
    expect(moveToName(at("new"), at("a.csv"), { replaces: true })).toBeNull();
    expect([names(), read("a.csv")]).toEqual([["a.csv"], "new"]);
  });

  test("of two writers at once, each keeps its file", async () => {
    const { at, names } = place();
    writeFileSync(at("other"), "other");
    const moved = ["new", "other"].map((from) => moveToName(at(from), at("a.csv"), { replaces: false }));
    const errors = (await Promise.all(moved)).map((error) => error?.code ?? null);
    expect([errors.sort(), names()]).toEqual([
      ["file_appeared", null],
      ["a-2.csv", "a.csv"],
    ]);
  });
});
