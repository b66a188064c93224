import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlanSummary } from "../../../src/flows/import/change-plan.ts";
import { repetitions } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const row = fc.record({
  name: fc.constantFrom("Dress", "Shirt"),
  description: fc.constantFrom("", "silk", "wool"),
  photos: fc.uniqueArray(
    fc.constantFrom("https://cdn.example.com/1.jpg", "https://cdn.example.com/2.jpg", "p.png", "q.png"),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
});
const references = ["A", "B", "C", "D", "E"];
const file = fc.uniqueArray(fc.tuple(fc.constantFrom(...references), row), {
  minLength: 1,
  selector: ([reference]) => reference,
});
const mode = fc.constantFrom("", "--mode create", "--mode skip_existing", "--photos all");

/** Changes by others between the imports. */
const edit = fc.tuple(fc.nat(4), fc.constantFrom("rename", "delete"));

const csv = (rows: readonly (readonly [string, { name: string; description: string; photos: string[] }])[]) =>
  ["reference,name,description,images"]
    .concat(
      rows.map(([ref, { name, description, photos }]) =>
        [ref, name, description, photos.join("|")].join(","),
      ),
    )
    .join("\n");

const png = (byte: number) =>
  Buffer.concat([
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
    Buffer.of(byte),
  ]);

test("the requests, uploads and rows of a plan are those of the import after it", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      file,
      file,
      fc.array(edit, { maxLength: 2 }),
      mode,
      async (before, after, edits, flags) => {
        const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
        world.write("p.png", png(1));
        world.write("q.png", png(2));
        world.write("a.csv", csv(before));
        expect((await world.cat("import a.csv")).exit).toBe(0);
        for (const [index, kind] of edits) {
          const product = world.products()[index];
          if (product === undefined) continue;
          const line = kind === "delete" ? `delete ${product.id} --yes` : `update ${product.id} --name Coat`;
          expect((await world.cat(`products ${line}`)).exit).toBe(0);
        }
        world.write("b.csv", csv(after));
        const started = world.requests().length;
        const plan = await world.cat(`import b.csv ${flags} --plan plan.ndjson --json`);
        const planned = world.requests();
        expect(planned.slice(started).filter(({ method }) => method !== "GET")).toEqual([]);
        const summary = JSON.parse(plan.stdout) as PlanSummary;
        const imported = await world.cat(`import b.csv ${flags} --json`);
        expect(plan.exit).toBe(imported.exit);
        const ran = JSON.parse(imported.stdout);
        const writes = world
          .requests()
          .slice(planned.length)
          .filter(({ method }) => method !== "GET");
        const uploads = writes.filter(({ path }) => path === "/v1/images");
        expect([summary.requests, summary.uploads]).toEqual([writes.length - uploads.length, uploads.length]);
        expect([
          summary.create,
          summary.change + summary.add_photos,
          summary.unchanged,
          summary.skip,
        ]).toEqual([ran.created, ran.updated, ran.unchanged, ran.skipped]);
        expect(summary.fail).toBe(ran.failed);
      },
    ),
    { numRuns: repetitions(4, 100) },
  );
});
