import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlanSummary } from "../../../src/flows/import/change-plan.ts";
import type { SharedCounts } from "../../../src/flows/import/summary.ts";
import { repetitions } from "../../support/repetitions.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";
import { photo } from "./merge-world.ts";

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

/** Changes by others. */
const change = fc.tuple(fc.nat(4), fc.constantFrom("rename", "delete", "attach", "detach"));

async function changeProduct(
  world: TestWorld,
  [index, kind]: typeof change extends fc.Arbitrary<infer Value> ? Value : never,
): Promise<void> {
  const product = world.products()[index];
  if (product === undefined) return;
  const { id, images } = product;
  // The service keeps the last photo of a product.
  if (kind === "detach" && images.length === 1) return;
  const line = {
    rename: `update ${id} --name Coat`,
    delete: `delete ${id} --yes`,
    attach: `attach ${id} r.png:back`,
    detach: `detach ${id} ${images[0]!.id} --yes`,
  }[kind];
  expect((await world.cat(`products ${line}`)).exit).toBe(0);
}

/** Edits of the rows of an exported sheet: the cells of photos are counted without the empty ones. */
const sheetEdit = fc.tuple(
  fc.nat(4),
  fc.constantFrom("clear", "rename", "empty", "replace", "swap", "leave out"),
  fc.nat(10),
);
type SheetEdit = typeof sheetEdit extends fc.Arbitrary<infer Value> ? Value : never;

function editSheet(text: string, edits: readonly SheetEdit[]): string {
  const [header, ...rows] = parse(text) as [string[], ...string[][]];
  const places = [...header.keys()].filter((at) => header[at]!.startsWith("image"));
  for (const [number, kind, which] of edits) {
    const cells = rows[number % rows.length]!;
    const filled = places.filter((at) => cells[at] !== "");
    const place = filled[which % Math.max(1, filled.length)];
    if (kind === "clear") cells[header.indexOf("description")] = "";
    else if (kind === "rename") cells[header.indexOf("name")] = "Gown";
    else if (kind === "leave out" && rows.length > 1) rows.splice(number % rows.length, 1);
    else if (place === undefined) continue;
    else if (kind === "empty") cells[place] = "";
    else if (kind === "replace") cells[place] = "s.png";
    else if (kind === "swap") {
      const other = places[which % places.length]!;
      [cells[place], cells[other]] = [cells[other]!, cells[place]!];
    }
  }
  return [header, ...rows].map((cells) => cells.map((cell) => `"${cell}"`).join(",")).join("\n");
}

/** The sums that a plan and a summary share. */
const sumsOf = ({ kept, conflicts, deleted, photos, not_applied, known_failures }: SharedCounts) => ({
  ...{ kept, conflicts, deleted, photos, not_applied, known_failures },
});

const scenario = fc.record({
  before: file,
  changes: fc.array(change, { maxLength: 2 }),
  places: columns,
  flags: mode,
  second: fc.oneof(
    fc.record({ rows: file }),
    fc.record({
      edits: fc.array(sheetEdit, { minLength: 1, maxLength: 5 }),
      changes: fc.array(change, { maxLength: 2 }),
    }),
  ),
  isApplied: fc.boolean(),
});

test("requests, uploads, rows, sums and exit status of a plan are those of the import after it", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ before, changes, places, flags, second, isApplied }) => {
      const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
      for (const name of ["p", "q", "r", "s"]) world.write(`${name}.png`, photo(name));
      world.write("a.csv", csv(before, places));
      expect((await world.cat("import a.csv")).exit).toBe(0);
      for (const one of changes) await changeProduct(world, one);
      if ("rows" in second) world.write("b.csv", csv(second.rows, places));
      else if (world.products().length === 0) return;
      else {
        expect((await world.cat("products export b.csv")).exit).toBe(0);
        for (const one of second.changes) await changeProduct(world, one);
        world.write("b.csv", editSheet(world.read("b.csv"), second.edits));
      }
      const started = world.requests().length;
      const plan = await world.cat(`import b.csv ${flags} --plan plan.ndjson --json`);
      const planned = world.requests();
      expect(planned.slice(started).filter(({ method }) => method !== "GET")).toEqual([]);
      const again = isApplied && plan.exit !== 3 ? "--apply plan.ndjson" : `b.csv ${flags}`;
      const imported = await world.cat(`import ${again} --json`);
      expect(imported.exit).toBe(plan.exit);
      const writes = world
        .requests()
        .slice(planned.length)
        .filter(({ method }) => method !== "GET");
      if (plan.exit === 3) {
        expect([imported.stderr, writes]).toEqual([plan.stderr, []]);
        return;
      }
      const summary = JSON.parse(plan.stdout) as PlanSummary;
      const ran = JSON.parse(imported.stdout);
      const uploads = writes.filter(({ path }) => path === "/v1/images");
      expect([summary.requests, summary.uploads]).toEqual([writes.length - uploads.length, uploads.length]);
      expect([summary.create, summary.change + summary.add_photos, summary.unchanged, summary.skip]).toEqual([
        ran.created,
        ran.updated,
        ran.unchanged,
        ran.skipped,
      ]);
      expect(summary.fail).toBe(ran.failed);
      expect(sumsOf(summary)).toEqual(sumsOf(ran));
    }),
    { numRuns: repetitions(5, 200) },
  );
});
