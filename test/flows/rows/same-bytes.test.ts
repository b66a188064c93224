import { existsSync, readFileSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SameBytes } from "../../../src/flows/rows/same-bytes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const block = 64 * 1024;

function world(content: Buffer) {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, content);
  const bytes = new SameBytes(path, { changed: () => new Error("changed") });
  return {
    bytes,
    path,
    async read() {
      const parts: Buffer[] = [];
      for await (const part of bytes.read()) parts.push(part);
      return Buffer.concat(parts);
    },
    async lengthsUntilFault() {
      const lengths: number[] = [];
      let fault: unknown;
      try {
        for await (const part of bytes.read()) lengths.push(part.length);
      } catch (error) {
        fault = (error as Error).message;
      }
      return { lengths, fault };
    },
  };
}

test.each([0, 1, block - 1, block, block + 1, 3 * block, 4 * block - 1, 4 * block, 4 * block + 1, 9 * block])(
  "%d bytes are read completely each time",
  async (size) => {
    const content = Buffer.alloc(size, "ab");
    const { read, bytes } = world(content);
    expect(bytes.digest).toBe(null);
    expect((await read()).equals(content)).toBe(true);
    const { digest } = bytes;
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await read()).equals(content)).toBe(true);
    expect(bytes.digest).toBe(digest);
  },
);

test("a file rewritten with the same size and date is detected before its bytes are used", async () => {
  const { path, read, lengthsUntilFault } = world(Buffer.alloc(3 * block, "a"));
  utimesSync(path, 1_000, 1_000);
  await read();
  const other = Buffer.alloc(3 * block, "a");
  other[block + 7] = 98;
  writeFileSync(path, other);
  utimesSync(path, 1_000, 1_000);
  expect(await lengthsUntilFault()).toEqual({ lengths: [block], fault: "changed" });
});

test("a file that grew or was cut at the end of a block counts as changed", async () => {
  const grown = world(Buffer.alloc(block, "a"));
  await grown.read();
  writeFileSync(grown.path, Buffer.alloc(2 * block, "a"));
  expect(await grown.lengthsUntilFault()).toEqual({ lengths: [block], fault: "changed" });

  const cut = world(Buffer.alloc(2 * block, "a"));
  await cut.read();
  truncateSync(cut.path, block);
  expect(await cut.lengthsUntilFault()).toEqual({ lengths: [block], fault: "changed" });
});

/** A file of the system: its size is 0, as it is for a file that gets its first bytes after the look. */
const unsized = "/proc/version";

test.skipIf(!existsSync(unsized))("bytes beyond the size that was looked at are read too", async () => {
  const bytes = new SameBytes(unsized, { changed: () => new Error("changed") });
  const parts: Buffer[] = [];
  for await (const part of bytes.read()) parts.push(part);
  expect(String(Buffer.concat(parts))).toBe(readFileSync(unsized, "utf8"));
});

test("a reader that stopped midway records no digest", async () => {
  const { path, bytes, read } = world(Buffer.alloc(2 * block, "a"));
  for await (const _ of bytes.read()) break;
  expect(bytes.digest).toBe(null);
  writeFileSync(path, "b");
  expect((await read()).toString()).toBe("b");
});
