import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromBufferPromise } from "yauzl";
import { CatError } from "../../../../src/errors.ts";
import { foldedPath } from "../../../../src/flows/files/file-names.ts";
import { type RawEntry, rawZip } from "../../../support/raw-zip.ts";
import { repetitions } from "../../../support/repetitions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { extracted, treeOf } from "./extracting.ts";

const part = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("a", "b", "A", "c.jpg", "C.jpg", "caf\u00e9", "cafe\u0301", "d?", "d*"),
  },
  { weight: 1, arbitrary: fc.constantFrom("..", ".", "", "aux", "x.", "n\u202e", "z\\", "x".repeat(250)) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }) },
);
const entry = fc
  .record({
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    data: fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record({ byte: fc.nat(255), length: fc.constantFrom(70_000, 1_200_000) })
        .map(({ byte, length }) => Buffer.alloc(length, byte)),
    ),
    deflate: fc.boolean(),
    lie: fc.option(fc.constantFrom("crc", "size", "stored", "name", "link", "at"), { freq: 12, nil: null }),
  })
  .map(({ parts, data, deflate, lie }): { honest: boolean; path: string; data: Buffer; raw: RawEntry } => {
    const path = parts.join("/");
    const lies: Record<string, Partial<RawEntry>> = {
      crc: { crc: (crc32(data) ^ 1) >>> 0 },
      size: { size: data.length + 1 },
      stored: { stored: 1_000_000 },
      name: { local: { name: "other" } },
      link: { mode: 0o120777 },
      at: { at: 1 },
    };
    // The names of the list at the end count; those in front of the data are not compared.
    return {
      honest: lie === null || lie === "name",
      path,
      data,
      raw: { name: path, data, deflate, ...(lie && lies[lie]) },
    };
  });
const wild = fc.array(fc.array(entry, { maxLength: 4 }), { minLength: 1, maxLength: 3 });
/** As the service writes them: names of photos, none twice in an archive. */
const honest = fc.array(
  fc.array(entry, { maxLength: 6 }).map((entries) =>
    entries.map(({ data, raw: { deflate } }, at) => {
      const path = `${at % 3 === 2 ? "folder/" : ""}SKU ${at}_caf\u00e9.jpg`;
      return { honest: true, path, data, raw: { name: path, data, deflate: deflate === true } as RawEntry };
    }),
  ),
  { minLength: 1, maxLength: 3 },
);
const archives = fc.oneof(
  wild.map((given) => ({ given, mustExtract: false })),
  honest.map((given) => ({ given, mustExtract: true })),
);
type Archives = typeof wild extends fc.Arbitrary<infer One> ? One : never;

interface Outcome {
  error: unknown;
  tree: Record<string, string> | null;
  left: string[];
}

/** Either every byte of every entry is in the folder, and nothing else; or an error says why, and nothing is left. */
async function checkOutcome(
  given: Archives,
  extract: (zips: Buffer[]) => Promise<Outcome>,
): Promise<boolean> {
  const { error, tree, left } = await extract(given.map((entries) => rawZip(entries.map(({ raw }) => raw))));
  expect(left).toEqual([]);
  if (tree === null) {
    expect(error).toBeInstanceOf(CatError);
    return false;
  }
  expect(error).toBe(null);
  const all = given.flat();
  expect(all.every(({ honest }) => honest)).toBe(true);
  const files = Object.entries(tree).filter(([path]) => !path.endsWith("/"));
  expect(new Set(files.map(([path]) => foldedPath(path))).size).toBe(files.length);
  const bytes = (texts: string[]) =>
    texts.map((text) => `${text.length} ${crc32(Buffer.from(text, "latin1"))}`).sort();
  const expected = all.filter(({ path }) => !path.endsWith("/")).map(({ data }) => data.toString("latin1"));
  expect(bytes(files.map(([, text]) => text))).toEqual(bytes(expected));
  // A name that no other entry has is kept.
  for (const { path, data } of all)
    if (
      !/[:*?"<>|]/.test(path) &&
      !path.endsWith("/") &&
      all.filter((one) => foldedPath(one.path) === foldedPath(path)).length === 1
    )
      if (tree[path] !== undefined) expect(tree[path] === data.toString("latin1")).toBe(true);
  return true;
}

test("extracts any set of entries byte for byte, or rejects it and leaves nothing", async () => {
  let complete = 0;
  let rejected = 0;
  await fc.assert(
    fc.asyncProperty(archives, async ({ given, mustExtract }) => {
      const isComplete = await checkOutcome(given, extracted);
      expect(isComplete || !mustExtract).toBe(true);
      if (isComplete) complete++;
      else rejected++;
    }),
    { numRuns: repetitions(20, 400) },
  );
  expect(complete).toBeGreaterThan(5);
  expect(rejected).toBeGreaterThan(5);
});

/** Extracts as simple programs do: one entry after another, without a check before the first. */
async function simply(zips: Buffer[]): Promise<Outcome> {
  const folder = join(temporaryFolder(), "deep", "er");
  const dir = join(folder, "out");
  mkdirSync(dir, { recursive: true });
  let error: unknown = null;
  try {
    for (const zip of zips)
      for await (const entry of (await fromBufferPromise(zip)).eachEntry()) {
        const path = join(dir, entry.fileName);
        mkdirSync(dirname(path), { recursive: true });
        const at = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength;
        const stored = zip.subarray(at, at + entry.compressedSize);
        writeFileSync(path, entry.compressionMethod === 8 ? inflateRawSync(stored) : stored);
      }
  } catch (thrown) {
    error = thrown;
  }
  return { error, tree: treeOf(dir), left: readdirSync(folder).filter((name) => name !== "out") };
}

test("the property catches a program that writes before it has judged", async () => {
  const { failed } = await fc.check(
    fc.asyncProperty(archives, async ({ given }) => void (await checkOutcome(given, simply))),
  );
  expect(failed).toBe(true);
});
