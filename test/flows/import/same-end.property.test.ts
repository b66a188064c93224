import fc from "fast-check";
import { expect, test } from "vitest";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { killedAfter } from "../../support/killed-command.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { batchesOf } from "./batch-rows.ts";
import { cdn } from "./import-fixtures.ts";
import { newMachine } from "./kills-world.ts";
import { type By, type ImportFlags, type ImportWorld, importWorld, isBatch } from "./run-import.ts";

batchesOf(2);

type World = ImportWorld;
type Mode = "upsert" | "all" | "create" | "skip_existing";
type Row = { reference: string; name: string; description: string; sex: string; photos: string[] };
type Edit = { reference: string; what: "delete" | "rename" | "name" | "description" };
type Story = {
  first: Row[];
  edits: Edit[];
  second: Row[];
  other: Row[];
  mode: Mode;
  faults: FaultOrder[];
  lives: Life[];
};
/** A command that is killed after so many steps; with a limit it may also end before. */
type Life = { steps: number; limit?: number };

const references = ["A", "B", "C", "D", "E"];
const anyRow = fc.record({
  reference: fc.constantFrom(...references),
  name: fc.constantFrom("Dress", "Coat"),
  description: fc.constantFrom("", "long", "short"),
  sex: fc.constantFrom("", "kid", "male"),
  photos: fc.uniqueArray(fc.constantFrom("1", "2", "3", "fail-timeout"), { minLength: 1, maxLength: 3 }),
});
const rows = fc.uniqueArray(anyRow, { selector: ({ reference }) => reference, minLength: 1, maxLength: 5 });
/** Faults that end within the number of automatic attempts, even if they hit the same request twice. */
const fault: fc.Arbitrary<FaultOrder> = fc
  .record({
    match: fc.constantFrom(
      { method: "POST", path: "/v1/imports" },
      { method: "GET", path: "/v1/imports" },
      { method: "PATCH", path: "/v1/products" },
      { method: "GET", path: "/v1/exports" },
      { path: "/v1/" },
    ),
    times: fc.integer({ min: 1, max: 2 }),
    what: fc.constantFrom<Partial<FaultOrder>[]>(
      { status: 500 },
      { status: 503 },
      { status: 429 },
      { drop: "before" },
      { drop: "after" },
      { truncate: 20 },
    ),
  })
  .map(({ what, ...order }) => ({ ...order, ...what }));
const anyStory: fc.Arbitrary<Story> = fc.record({
  first: rows,
  edits: fc.array(
    fc.record({
      reference: fc.constantFrom(...references),
      what: fc.constantFrom("delete", "rename", "name", "description"),
    }),
    { maxLength: 3 },
  ),
  second: rows,
  other: fc.oneof(fc.constant<Row[]>([]), rows),
  mode: fc.constantFrom("upsert", "upsert", "all", "create", "skip_existing"),
  faults: fc.array(fault, { maxLength: 2 }),
  lives: fc.array(
    fc.record(
      { steps: fc.integer({ min: 0, max: 420 }), limit: fc.integer({ min: 1, max: 5 }) },
      { requiredKeys: ["steps"] },
    ),
    { maxLength: 3 },
  ),
});

/** Whether a failing photo is the only new one depends on the order of two files: then there is no other file. */
const story = anyStory.map((one) => ({
  ...one,
  other: [...one.second, ...one.other].some(({ photos }) => photos.includes("fail-timeout")) ? [] : one.other,
}));

const textOf = (all: Row[]) =>
  `reference,name,description,sex,images\n${all
    .map(({ reference, name, description, sex, photos }) =>
      [reference, name, description, sex, photos.map((one) => `${cdn}/${one}.jpg`).join("|")].join(","),
    )
    .join("\n")}\n`;

/** The expected products, computed without any code of the import. */
class Model {
  readonly #products = new Map<
    string,
    { name: string; description: string; sex: string; photos: string[] }
  >();

  import(all: Row[], mode: Mode): void {
    for (const { reference, name, description, sex, photos } of all) {
      const product = this.#products.get(reference);
      if (product !== undefined && (mode === "create" || mode === "skip_existing")) continue;
      const sent = photos.filter((one) => mode !== "upsert" || !product?.photos.includes(one));
      const isGood = (one: string) => !one.startsWith("fail");
      // A row is failed if all its photos fail that are sent; without a new photo its fields are changed.
      if (!(sent.length > 0 ? sent : photos).some(isGood)) continue;
      this.#products.set(reference, {
        name,
        description: description || (product?.description ?? ""),
        sex: sex || (product?.sex ?? ""),
        photos: [...(product?.photos ?? []), ...sent.filter(isGood)],
      });
    }
  }

  edit({ reference, what }: Edit): boolean {
    const product = this.#products.get(reference);
    if (product === undefined || (what === "rename" && this.#products.has(`${reference}-x`))) return false;
    if (what === "name" || what === "description") product[what] = "theirs";
    else this.#products.delete(reference);
    if (what === "rename") this.#products.set(`${reference}-x`, product);
    return true;
  }

  get products(): string[] {
    return [...this.#products]
      .map(([reference, { name, description, sex, photos }]) =>
        [reference, name, description, sex, photos.length].join(" "),
      )
      .sort();
  }
}

const productsOf = async ({ client }: World) =>
  (await client.products.list({ limit: 100 })).data
    .map(({ reference, name, description, sex, images }) =>
      [reference, name, description ?? "", sex ?? "", images.length].join(" "),
    )
    .sort();

async function editAsOthers({ client }: World, { reference, what }: Edit): Promise<void> {
  const all = (await client.products.list({ limit: 100 })).data;
  const product_id = all.find((one) => one.reference === reference)!.id;
  if (what === "delete") await client.products.delete({ product_id });
  else {
    const body = what === "rename" ? { reference: `${reference}-x` } : { [what]: "theirs" };
    await client.products.update({ product_id, body: body as { name: string } });
  }
}

/**
 * Runs a command again and again, killing it at a given step or limiting its rows, until one finishes. After the first
 * kill another file is imported; returns whether that happened.
 */
async function untilDone(world: World, machine: string, story: Story, { judge }: By): Promise<boolean> {
  const { mode } = story;
  let isOtherDone = false;
  const flags: ImportFlags = mode === "all" ? { photos: mode } : { mode };
  const last: Life = { steps: Number.POSITIVE_INFINITY };
  for (const [at, { steps, limit }] of [...story.lives, last].entries()) {
    const life = killedAfter(steps, world.clock);
    const ran = await world.import(
      "second.csv",
      { ...flags, limit, concurrency: 2 },
      { machine, judge: async (request) => (await life.judge(request)) ?? judge?.(request) ?? null },
    );
    life.end();
    if (!life.isOver && ran.stopped?.code !== "sent_beyond_limit") {
      expect(ran.stopped).toBeUndefined();
      if ((ran.summary!.left ?? 0) === 0) return isOtherDone;
    }
    // Killed after all work was done: the same command starts another run, which is harmless for an upsert.
    if (mode !== "upsert" && (await hasEnded(world, machine))) return isOtherDone;
    if (at === 0 && mode === "upsert" && story.other.length > 0)
      isOtherDone = await importOther(world, machine);
  }
  throw new Error("the last life has no end");
}

/** Whether an import of the second file has ended; a command that was rejected before it is in the list of runs only. */
const hasEnded = async ({ stateOf }: World, machine: string): Promise<boolean> =>
  (await stateOf(machine)).runs
    .ofKind("import")
    .some(({ file, identity, isEnded }) => file === "second.csv" && identity !== "" && isEnded);

/**
 * Whether it was imported: not if a batch of the killed command has the same products and an unknown outcome.
 */
async function importOther(world: World, machine: string): Promise<boolean> {
  const { stopped } = await world.import("other.csv", {}, { machine });
  if (stopped !== undefined) expect(stopped).toMatchObject({ code: "unknown_outcome" });
  return stopped === undefined;
}

async function endsAsItShould(world: World, story: Story, by: By = {}) {
  world.mock.reset();
  const machine = newMachine();
  const model = new Model();
  await world.write("first.csv", textOf(story.first));
  await world.import("first.csv", {}, { machine });
  model.import(story.first, "upsert");
  for (const edit of story.edits) if (model.edit(edit)) await editAsOthers(world, edit);
  expect(await productsOf(world)).toEqual(model.products);
  await world.write("second.csv", textOf(story.second));
  await world.write("other.csv", textOf(story.other));
  for (const order of story.faults) await world.fault(order);
  if (await untilDone(world, machine, story, by)) model.import(story.other, "upsert");
  model.import(story.second, story.mode);
  await world.fault();
  expect(await productsOf(world)).toEqual(model.products);
}

test("an import ends with the same products for any files, changes by others, temporary faults, limits and kills", async () => {
  const world = await importWorld();
  await fc.assert(
    fc.asyncProperty(story, (one) => endsAsItShould(world, one)),
    { numRuns: repetitions(6, 400) },
  );
});

const row: Row = { reference: "A", name: "Dress", description: "", sex: "", photos: ["1"] };

/** The number of steps after which a second import of the row has sent its batch. */
async function stepsToBatch(world: World): Promise<number> {
  world.mock.reset();
  const machine = newMachine();
  for (const file of ["first.csv", "second.csv"]) await world.write(file, textOf([row]));
  await world.import("first.csv", {}, { machine });
  const life = killedAfter(Number.POSITIVE_INFINITY, world.clock);
  let steps = 0;
  const judge: By["judge"] = (request) => {
    const verdict = life.judge(request);
    if (isBatch(request)) steps = life.steps;
    return verdict;
  };
  await world.import("second.csv", { photos: "all", concurrency: 2 }, { machine, judge });
  life.end();
  return steps;
}

/** The first number of steps after which a killed command ends with other products; null if there is none. */
async function firstWrong(by?: By): Promise<number | null> {
  const world = await importWorld();
  const sent = await stepsToBatch(world);
  for (let steps = sent - 4; steps < sent + 6; steps++) {
    const one: Story = {
      ...{ first: [row], edits: [], second: [row], other: [], mode: "all", faults: [] },
      lives: [{ steps }],
    };
    const isWrong = await endsAsItShould(world, one, by).then(
      () => false,
      () => true,
    );
    if (isWrong) return steps;
  }
  return null;
}

longTest("the property detects a resent batch with a new key (negative control)", async () => {
  expect(await firstWrong()).toBe(null);
  let keys = 0;
  const withNewKeys: By = { judge: (request) => (isBatch(request) ? { key: `other-${++keys}` } : null) };
  expect(await firstWrong(withNewKeys)).toEqual(expect.any(Number));
});
