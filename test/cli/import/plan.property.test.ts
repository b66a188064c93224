import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlanSummary } from "../../../src/flows/import/change-plan.ts";
import type { SharedCounts } from "../../../src/flows/import/summary.ts";
import { repetitions } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const sources = ["https://cdn.example.com/1.jpg", "https://cdn.example.com/2.jpg", "p.png", "q.png"];
const row = fc.record({
  name: fc.constantFrom("Dress", "Shirt"),
  description: fc.constantFrom("", "silk", "wool"),
  photos: fc.uniqueArray(fc.constantFrom(...sources), { minLength: 1, maxLength: 3 }),
  /** Where its photos are, among the places. */
  shift: fc.nat(2),
});
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;
const references = ["A", "B", "C", "D", "E"];
const file = fc.uniqueArray(fc.tuple(fc.constantFrom(...references), row), {
  minLength: 1,
  selector: ([reference]) => reference,
});
const mode = fc.constantFrom("", "--mode create", "--mode skip_existing", "--photos all", "--exact");
/** The columns of photos: one list, or a column for each place. */
const columns = fc.constantFrom("images", "image_front,image_back,image_detail", "image_1,image_2,image_3");

/** Changes by others between the imports. */
const edit = fc.tuple(fc.nat(4), fc.constantFrom("rename", "delete", "attach", "detach"));

function csv(rows: readonly (readonly [string, Row])[], places: string): string {
  const photoCells = ({ photos, shift }: Row): string[] => {
    if (places === "images") return [photos.join("|")];
    const cells = ["", "", ""];
    for (const [at, photo] of photos.entries()) cells[(at + shift) % cells.length] = photo;
    return cells;
  };
  const lines = rows.map(([reference, row]) => [reference, row.name, row.description, ...photoCells(row)]);
  return [`reference,name,description,${places}`, ...lines.map((cells) => cells.join(","))].join("\n");
}

const png = (byte: number) =>
  Buffer.concat([
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
    Buffer.of(byte),
  ]);

/** The sums that a plan and a summary share. */
const sumsOf = ({ kept, conflicts, deleted, photos, not_applied, known_failures }: SharedCounts) => ({
  ...{ kept, conflicts, deleted, photos, not_applied, known_failures },
});

test("the requests, uploads and rows of a plan are those of the import after it", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      file,
      file,
      fc.array(edit, { maxLength: 2 }),
      mode,
      columns,
      async (before, after, edits, flags, places) => {
        const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
        world.write("p.png", png(1));
        world.write("q.png", png(2));
        world.write("r.png", png(3));
        world.write("a.csv", csv(before, places));
        expect((await world.cat("import a.csv")).exit).toBe(0);
        for (const [index, kind] of edits) {
          const product = world.products()[index];
          if (product === undefined) continue;
          const { id, images } = product;
          // The service keeps the last photo of a product.
          if (kind === "detach" && images.length === 1) continue;
          const line = {
            rename: `update ${id} --name Coat`,
            delete: `delete ${id} --yes`,
            attach: `attach ${id} r.png:back`,
            detach: `detach ${id} ${images[0]!.id} --yes`,
          }[kind];
          expect((await world.cat(`products ${line}`)).exit).toBe(0);
        }
        world.write("b.csv", csv(after, places));
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
        expect(sumsOf(summary)).toEqual(sumsOf(ran));
      },
    ),
    { numRuns: repetitions(4, 200) },
  );
});
