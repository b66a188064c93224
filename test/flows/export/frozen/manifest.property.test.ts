import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { checkManifest, mergeManifests } from "../../../../src/flows/export/frozen/manifest.ts";
import { repetitions } from "../../../support/repetitions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const line = (id: string, name = "Größe \u2028 x") => JSON.stringify({ product: { id, name }, assets: [] });
let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "part");
});

/** A manifest of products, as the service may order them. */
const manifests = fc
  .uniqueArray(fc.stringMatching(/^[0-9A-Z]{1,8}$/), { minLength: 1, maxLength: 12 })
  .chain((ids) => fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids, { minLength: ids.length })));

describe("a manifest", () => {
  test("is accepted with exactly the products that were asked for, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(manifests, async ([ids, order]) => {
        writeFileSync(path, order.map((id) => `${line(id)}\n`).join(""));
        await checkManifest(path, "it", ids);
      }),
      { numRuns: repetitions(25, 1000) },
    );
  });

  test("cut anywhere, or with a product more or less, is rejected", async () => {
    await fc.assert(
      fc.asyncProperty(manifests, fc.nat(), async ([ids, order], at) => {
        const complete = Buffer.from(order.map((id) => `${line(id)}\n`).join(""));
        for (const content of [
          complete.subarray(0, at % complete.length),
          Buffer.concat([complete, Buffer.from(`${line("other-product")}\n`)]),
          Buffer.concat([complete, Buffer.from("\n")]),
        ]) {
          writeFileSync(path, content);
          await expect(checkManifest(path, "it", ids)).rejects.toMatchObject({ code: "wrong_content" });
        }
      }),
      { numRuns: repetitions(25, 1000) },
    );
  });

  test.each([
    ["", ["A"], "it has 0 of 1 products"],
    [`${line("A")}`, ["A"], "it ends within a line"],
    [`${line("A")}\n`, ["A", "B"], "it has 1 of 2 products"],
    [`${line("A")}\n${line("C")}\n`, ["A", "B"], "line 2 has a product that was not asked for"],
    [`${line("A")}\n{"product":\n`, null, "line 2 has no product"],
    ["[]\n", null, "line 1 has no product"],
  ])("%j is rejected with a reason", async (content, ids, why) => {
    writeFileSync(path, content);
    const message = `the file is not the manifest of the export: ${why}`;
    await expect(checkManifest(path, "the file", ids)).rejects.toThrow(message);
  });

  test("of several jobs has each product once, in the order that was asked for, as the service wrote it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(manifests, { minLength: 1, maxLength: 4 }), async (some) => {
        const parts = some.map(([ids, order], at) => {
          const part = join(folder, `part-${at}`);
          // A repeated row, as a service might write it.
          const rows = [...order, order[0]!].map((id) => `${line(id, `in ${at}`)}\n`);
          writeFileSync(part, rows.join(""));
          return { path: part, ids };
        });
        const merged = join(folder, "merged");
        const done: number[] = [];
        await mergeManifests(parts, {
          path: merged,
          name: "all.jsonl",
          onProgress: (count) => done.push(count),
        });
        const wanted = some.flatMap(([ids], at) => ids.map((id) => `${line(id, `in ${at}`)}\n`));
        expect(readFileSync(merged, "utf8")).toBe(wanted.join(""));
        expect(done.at(-1)).toBe(wanted.length);
      }),
      { numRuns: repetitions(15, 300) },
    );
  });
});
