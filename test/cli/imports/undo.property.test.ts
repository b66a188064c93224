import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadConnect } from "../../../src/state/sqlite.ts";
import { repetitions } from "../../support/repetitions.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const references = ["A", "B", "C", "D", "E"];
const row = fc.record({
  name: fc.constantFrom("Dress", "Shirt", "Wrong"),
  description: fc.constantFrom("", "silk", "wool"),
  photos: fc.subarray(["1", "2", "3"], { minLength: 1 }),
});
const rows = fc.uniqueArray(fc.tuple(fc.constantFrom(...references), row), {
  minLength: 1,
  selector: ([reference]) => reference,
});
type Rows = readonly (readonly [string, { name: string; description: string; photos: readonly string[] }])[];

const csv = (rows: Rows) =>
  ["reference,name,description,images"]
    .concat(
      rows.map(([ref, { name, description, photos }]) =>
        [
          ref,
          name,
          description,
          photos.map((at) => `https://cdn.example.com/${ref}-${at}.jpg`).join("|"),
        ].join(","),
      ),
    )
    .join("\n");

/** What others do between the import and its undo. */
const edit = fc.tuple(
  fc.constantFrom(...references),
  fc.constantFrom("rename", "delete", "attach", "generate", "detach"),
);
const fault = fc.option(
  fc.record({
    method: fc.constantFrom("POST", "PATCH", "DELETE", "GET"),
    drop: fc.constantFrom("before", "after"),
    times: fc.integer({ min: 1, max: 30 }),
  }),
);

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const catalogue = (world: TestWorld) =>
  new Map(
    world
      .products()
      .map(({ id, reference, name, description, sex, images }) => [
        id,
        { reference, name, description, sex, images: images.map((image) => image.id).sort() },
      ]),
  );

async function order(world: TestWorld, body: object | null) {
  const method = body === null ? "DELETE" : "POST";
  const headers = { "content-type": "application/json" };
  const sent = body === null ? {} : { body: JSON.stringify(body) };
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method, headers, ...sent });
}

/** Carries out an edit; returns the ID of the product, if it changed. */
async function change(world: TestWorld, reference: string, kind: string): Promise<string | null> {
  const product = world.products().find((one) => one.reference === reference);
  if (product === undefined) return null;
  const { id, images } = product;
  const line = {
    rename: `products update ${id} --name Mine`,
    delete: `products delete ${id} --yes`,
    attach: `products attach ${id} p.png:front`,
    detach: `products detach ${id} ${images.at(-1)!.id}`,
    generate: `beautify --product ${id} --subtype clothing --background white --angle front --yes --no-wait`,
  }[kind]!;
  const { exit } = await world.cat(line);
  return exit === 0 ? id : null;
}

interface Scenario {
  first: Rows;
  second: Rows;
  edits: readonly (readonly [string, string])[];
  broken: { method: string; drop: string; times: number } | null;
}

/** What an undo, or its plan, says of the products. */
function undone(stdout: string): string {
  const { run_id: _, plan: __, ...counts } = stdout === "" ? {} : JSON.parse(stdout);
  return JSON.stringify(counts);
}

/** Plays an import and its undo; returns the rules that were broken. */
async function play(
  { first, second, edits, broken }: Scenario,
  tamper?: (world: TestWorld) => Promise<void>,
) {
  const world = await createWorld({ mock: { demo: 2, rateLimit: false } });
  world.write("p.png", png);
  world.write("first.csv", csv(first));
  expect((await world.cat("import first.csv")).exit).toBe(0);
  const before = catalogue(world);
  world.write("second.csv", csv(second));
  const { exit, stdout } = await world.cat("import second.csv --json");
  expect(exit).toBe(0);
  const { run_id } = JSON.parse(stdout);
  const edited = new Map<string, string>();
  for (const [reference, kind] of edits) {
    const id = await change(world, reference, kind);
    if (id !== null) edited.set(id, kind);
  }
  const mine = catalogue(world);
  await tamper?.(world);
  if (broken !== null) {
    const { method, ...how } = broken;
    await order(world, { match: { method, path: "/v1/products" }, ...how });
    await world.cat(`imports undo ${run_id} --yes`);
    await order(world, null);
  }
  const plan = broken === null ? await world.cat(`imports undo ${run_id} --plan --json`) : null;
  const ran = await world.cat(`imports undo ${run_id} --yes --json`);
  const now = catalogue(world);
  const faults: string[] = [];
  if (plan !== null && undone(plan.stdout) !== undone(ran.stdout))
    faults.push(`the plan was ${plan.stdout}, and the undo ${ran.stdout}`);
  for (const [id, product] of before)
    if (!now.has(id) && edited.get(id) !== "delete") faults.push(`${product.reference} was deleted`);
  for (const [id, kind] of edited) {
    if (kind === "rename" && now.get(id)?.name !== "Mine") faults.push(`the edit of ${id} is lost`);
    if (kind === "generate" && !now.has(id)) faults.push(`the product ${id} with generations is lost`);
    if (kind === "attach") {
      const others = mine.get(id)!.images.filter((image) => !now.get(id)?.images.includes(image));
      // Its own photos may go, the attached one stays.
      if (now.get(id) === undefined || others.length >= mine.get(id)!.images.length)
        faults.push(`the photo of ${id} is lost`);
    }
  }
  if (edits.length === 0) {
    if (JSON.stringify([...now]) !== JSON.stringify([...before])) faults.push("the catalogue differs");
    if (ran.exit !== 0 && second.length > 0 && !/no import with the run/.test(ran.stderr))
      faults.push(`exit ${ran.exit}`);
  }
  return faults;
}

test("an undo never deletes what the import did not create, and keeps what others changed", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      rows,
      fc.array(edit, { maxLength: 3 }),
      fault,
      async (first, second, edits, broken) => {
        expect(await play({ first, second, edits, broken })).toEqual([]);
      },
    ),
    { numRuns: repetitions(5, 60) },
  );
});

const known: Scenario = {
  first: [["A", { name: "Dress", description: "", photos: ["1"] }]],
  second: [["A", { name: "Wrong", description: "", photos: ["1", "2"] }]],
  edits: [],
  broken: null,
};

const sql = (statement: string) => async (world: TestWorld) => {
  const db = (await loadConnect())(join(world.folder, ".home/state/default.db"));
  db.execute(statement);
  db.close();
};

test("the rules notice a deleted product, and an undo without the record of before", async () => {
  expect(await play(known)).toEqual([]);
  expect(await play(known, sql("UPDATE change SET before = NULL"))).toEqual([
    "the catalogue differs",
    "exit 8",
  ]);
  const created = `UPDATE change SET action = 'created', after = zeroblob(24), photos =
    photos || (SELECT ' ' || group_concat(substr(value, 1, 26), ' ') FROM json_each(before, '$.images'))
    WHERE action = 'updated'`;
  expect(await play(known, sql(created))).toEqual(["A was deleted", "the catalogue differs"]);
});
