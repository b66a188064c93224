import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  copyFile,
  isOwnFile,
  makePrivateFolder,
  newFile,
  newFileSync,
  openKept,
  removeTemporary,
  rewriteFile,
  temporaryFile,
  touchFile,
  tryToWrite,
  whenFree,
} from "../src/open-file.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** The most bytes that the system takes in one write. */
let mostAtOnce = Number.POSITIVE_INFINITY;
beforeEach(() => {
  mostAtOnce = Number.POSITIVE_INFINITY;
});

vi.mock("node:fs", async (original) => {
  const { promisify } = await import("node:util");
  const fs = await original<typeof import("node:fs")>();
  const cut = (length: number) => Math.min(length, mostAtOnce);
  const write = async (file: number, bytes: Buffer, start: number, length: number, at: number | null) => ({
    bytesWritten: fs.writeSync(file, bytes, start, cut(length), at),
  });
  const writev = async (file: number, [first]: Buffer[], at: number | null) => ({
    bytesWritten: fs.writeSync(file, first!, 0, cut(first!.length), at),
  });
  const late = (work: object) => Object.assign(() => {}, { [promisify.custom]: work });
  return {
    ...fs,
    write: late(write),
    writev: late(writev),
    writevSync: (file: number, [first]: Buffer[]) => fs.writeSync(file, first!, 0, cut(first!.length)),
    writeSync: (file: number, bytes: Buffer, start = 0) =>
      fs.writeSync(file, bytes, start, cut(bytes.length - start)),
  };
});

const parts = [Buffer.from("one, "), Buffer.from("two, "), Buffer.from("three")];

test.each([1, 3, 7, Number.POSITIVE_INFINITY])(
  "writes all bytes where the system takes %d at once",
  async (most) => {
    mostAtOnce = most;
    const path = join(temporaryFolder(), "a");
    const file = await newFile(path);
    await file.write("zero, ");
    file.writeSync(parts);
    await file.writeAll([Buffer.from("Z"), Buffer.from("E")], 0);
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("ZEro, one, two, three");
    rewriteFile(path, Buffer.from("another"));
    expect(readFileSync(path, "utf8")).toBe("another");
  },
);

describe("a link, of whomever", () => {
  const ways: readonly [name: string, code: string, open: (path: string) => unknown][] = [
    ["a new file", "EEXIST", (path) => newFile(path)],
    ["a new file without waiting", "EEXIST", (path) => newFileSync(path)],
    ["a file that is resumed", "ELOOP", (path) => openKept(path, "r+")],
    ["a file that grows", "ELOOP", (path) => openKept(path, "a")],
    ["a file that is only to exist", "ELOOP", (path) => touchFile(path)],
    ["a file that is rewritten", "ELOOP", (path) => rewriteFile(path, Buffer.from("x"))],
    ["a copy", "EEXIST", (path) => copyFile(import.meta.filename, path)],
    ["a private folder", "ELOOP", (path) => makePrivateFolder(path)],
  ];

  test.each(ways)("is not followed by %s (%s)", async (_, code, open) => {
    const folder = temporaryFolder();
    const [link, dangling] = [join(folder, "link"), join(folder, "dangling")];
    writeFileSync(join(folder, "private"), "private");
    symlinkSync("private", link);
    symlinkSync("missing", dangling);
    for (const path of [link, dangling])
      await expect((async () => open(path))()).rejects.toMatchObject({ code });
    expect(readFileSync(join(folder, "private"), "utf8")).toBe("private");
    expect(readdirSync(folder).sort()).toEqual(["dangling", "link", "private"]);
  });
});

test("a temporary file has a random name, and is for its user alone", async () => {
  const folder = temporaryFolder();
  const names = new Set<string>();
  for (let count = 0; count < 20; count++) {
    const file = await temporaryFile(folder, ".a-");
    await file.close();
    await file.close();
    names.add(file.path);
    expect([file.path, statSync(file.path).mode & 0o777]).toEqual([
      expect.stringMatching(/\/\.a-[0-9a-f]{32}\.part$/),
      0o600,
    ]);
  }
  expect(names.size).toBe(20);
  const others = [".a-.part", `.b-${"0".repeat(32)}.part`, `.a-${"g".repeat(32)}.part`];
  for (const name of others) writeFileSync(join(folder, name), "");
  await removeTemporary(folder, ".a-");
  expect(readdirSync(folder).sort()).toEqual(others.sort());
});

describe("a private folder", () => {
  test("is new, or closed to others, and what is in it stays", () => {
    const folder = temporaryFolder();
    makePrivateFolder(join(folder, "new"));
    mkdirSync(join(folder, "open"));
    chmodSync(join(folder, "open"), 0o777);
    writeFileSync(join(folder, "open", "a"), "");
    makePrivateFolder(join(folder, "open"));
    expect(["new", "open"].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(readdirSync(join(folder, "open"))).toEqual(["a"]);
  });

  test("is never a file", () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "");
    expect(() => makePrivateFolder(path)).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
  });
});

test("compares the owner of a file with that of new ones, and leaves nothing behind", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "");
  linkSync(join(folder, "a"), join(folder, "b"));
  expect([isOwnFile(join(folder, "a")), lstatSync(join(folder, "b")).nlink]).toEqual([true, 2]);
  expect(readdirSync(folder).sort()).toEqual(["a", "b"]);
  expect(existsSync(join(folder, "c"))).toBe(false);
});

test("compares the owner of a file of this user without a file, which a kill would leave", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "");
  utimesSync(folder, 1, 1);
  expect([isOwnFile(join(folder, "a")), lstatSync(folder).mtimeMs]).toEqual([true, 1_000]);
});

test("a try to write into a folder leaves nothing, also what a killed process has left of its own", async () => {
  const folder = temporaryFolder();
  await temporaryFile(folder, ".try-").then((file) => file.close());
  writeFileSync(join(folder, ".try-again"), "of the user");
  await tryToWrite(folder);
  expect(readdirSync(folder)).toEqual([".try-again"]);
});

describe("too many open files", () => {
  const failing = (times: number, code: string) => {
    let left = times;
    return async () => {
      if (left-- > 0) throw Object.assign(new Error(code), { code });
      return "open";
    };
  };

  test.each(["EMFILE", "ENFILE", "ENOMEM"])("%s is waited for", async (code) => {
    let pauses = 0;
    const pause = async () => void pauses++;
    expect([await whenFree(failing(7, code), pause), pauses]).toEqual(["open", 7]);
  });

  test("are an error in the end, and other errors are one at once", async () => {
    let pauses = 0;
    const pause = async () => void pauses++;
    await expect(whenFree(failing(1_000, "EMFILE"), pause)).rejects.toMatchObject({ code: "EMFILE" });
    expect(pauses).toBe(99);
    await expect(whenFree(failing(1, "EACCES"), pause)).rejects.toMatchObject({ code: "EACCES" });
    expect(pauses).toBe(99);
  });
});
