import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { photo } from "../photos/photo-folder.ts";
import { liveProducts, newMachine } from "./kills-world.ts";
import { type Ending, MergeModel, type ModelRow, type Rule, rules, sides } from "./merge-model.ts";
import { type ImportWorld, importWorld } from "./run-import.ts";

const references = ["A", "B", "C"];
const contents = ["1", "2", "3"];
/** Photos that no sheet has. */
const others = ["x", "y"];

type Step =
  | { do: "import"; machine: "one" | "two"; exact: boolean; edits: Edit[] }
  | {
      do: "client";
      reference: string;
      what: "delete" | "name" | "description" | "attach" | "detach";
      pick: number;
    };
interface Edit {
  readonly reference: string;
  readonly cell: keyof Omit<ModelRow, "reference">;
  readonly value: string;
}

const edit: fc.Arbitrary<Edit> = fc
  .record({
    reference: fc.constantFrom(...references),
    cell: fc.constantFrom("name", "description", "front", "back", "front", "back" as const),
    pick: fc.nat(5),
  })
  .map(({ reference, cell, pick }) => {
    const values = {
      ...{ name: ["Dress", "Coat"], description: ["", "long", "short"] },
      ...{ front: ["", ...contents], back: ["", ...contents] },
    }[cell];
    return { reference, cell, value: values[pick % values.length]! };
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("import" as const),
    machine: fc.constantFrom("one" as const, "two" as const),
    exact: fc.constantFrom(false, false, false, false, true),
    edits: fc.array(edit, { maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant("client" as const),
    reference: fc.constantFrom(...references),
    what: fc.constantFrom("delete", "name", "description", "attach", "detach" as const),
    pick: fc.nat(7),
  }),
);
const story = fc.record({
  first: fc.array(edit, { maxLength: 6 }),
  steps: fc.array(step, { minLength: 2, maxLength: 7 }),
});

type World = ImportWorld;
type Sheet = Map<string, ModelRow>;

/** Applies edits; a row without a photo, or with one photo for two sides, would be invalid. */
function applyEdits(sheet: Sheet, edits: readonly Edit[]): void {
  for (const { reference, cell, value } of edits) {
    const row = { ...sheet.get(reference)!, [cell]: value };
    if (row.front !== row.back) sheet.set(reference, row);
  }
}

const textOf = (sheet: Sheet): string => {
  const path = (content: string) => (content === "" ? "" : `${content}.png`);
  const rows = [...sheet.values()].map(
    ({ reference, name, description, front, back }) =>
      `${reference},${name},${description},${path(front)},${path(back)}\n`,
  );
  return `reference,name,description,image_front,image_back\n${rows.join("")}`;
};

/** The products of the service in words: a photo is `CONTENT SIDE`. */
const listed = (world: World): object =>
  Object.fromEntries(
    liveProducts(world).map(({ reference, name, description, photos }) => [
      reference,
      {
        name,
        description: description ?? "",
        photos: photos.map(({ content, side }) => `${content} ${side}`).sort(),
      },
    ]),
  );

const inWords = ({ products }: MergeModel): object =>
  Object.fromEntries(
    [...products].map(([reference, { name, description, photos }]) => [
      reference,
      { name, description, photos: photos.map(({ content, side }) => `${content} ${side}`).sort() },
    ]),
  );

const bytes = new Map([...contents, ...others].map((content) => [content, photo(content)]));

/** A test environment for any number of stories. */
async function mergeWorld() {
  const world = await importWorld({ isDirect: true });
  for (const content of contents) writeFileSync(join(world.folder, `${content}.png`), bytes.get(content)!);
  return world;
}

/** Plays a story on the program and on the model; returns the first difference, or null. */
async function difference(
  world: World,
  { first, steps }: { first: Edit[]; steps: Step[] },
  without: Rule | null = null,
): Promise<string | null> {
  world.mock.reset();
  const machines = { one: newMachine(), two: newMachine() };
  const model = new MergeModel(without);
  const sheet: Sheet = new Map(
    references.map((reference) => [
      reference,
      { reference, name: "Dress", description: "", front: "1", back: "" },
    ]),
  );
  applyEdits(sheet, first);
  for (const [at, one] of steps.entries()) {
    world.clock.advance(60_000);
    if (one.do === "client") await changeAsClient(one, world, model);
    else {
      applyEdits(sheet, one.edits);
      await world.write("a.csv", textOf(sheet));
      const by = { machine: machines[one.machine], key: `ak_new_${one.machine}` };
      const ran = await world.import("a.csv", { exact: one.exact, sameOrganization: true }, by);
      if (ran.stopped !== undefined) throw new Error(ran.stopped.message);
      const expected = countsOf(model.import(one.machine, [...sheet.values()], { exact: one.exact }));
      const { created, updated, conflicts, deleted, unchanged, kept, failed, partial } = ran.summary!;
      const counts = { created, changed: updated, conflict: conflicts, deleted, left: unchanged + kept };
      const [want, is] = [
        { ...expected, failed: 0, partial: 0 },
        { ...counts, failed, partial },
      ];
      if (JSON.stringify(is) !== JSON.stringify(want))
        return `${at}: ${JSON.stringify(is)} instead of ${JSON.stringify(want)}`;
    }
    const [want, is] = [inWords(model), listed(world)].map((products) =>
      JSON.stringify(Object.entries(products as object).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    if (is !== want) return `${at}: ${is} instead of ${want}`;
  }
  return null;
}

function countsOf(endings: readonly Ending[]) {
  const count = (which: Ending) => endings.filter((ending) => ending === which).length;
  return {
    ...{ created: count("created"), changed: count("changed"), conflict: count("conflict") },
    ...{ deleted: count("deleted"), left: count("left") },
  };
}

/** Another client changes a product, at the service and in the model. */
async function changeAsClient(
  { reference, what, pick }: Extract<Step, { do: "client" }>,
  world: World,
  model: MergeModel,
): Promise<void> {
  const { client } = world;
  const product = liveProducts(world).find((one) => one.reference === reference);
  const own = model.products.get(reference);
  if (product === undefined || own === undefined) return;
  const product_id = product.id;
  if (what === "delete") {
    await client.products.delete({ product_id });
    model.products.delete(reference);
  } else if (what === "name" || what === "description") {
    const value = ["Coat", "Theirs"][pick % 2]!;
    await client.products.update({ product_id, body: { [what]: value } as { name: string } });
    own[what] = value;
  } else if (what === "attach") {
    const content = others.find((one) => !own.photos.some((photo) => photo.content === one));
    if (content === undefined) return;
    const side = sides[pick % 2]!;
    const file = { bytes: bytes.get(content)!, filename: `${content}.png` };
    const { id: image_id } = await client.images.upload({ file });
    await client.products.attach({ product_id, body: { images: [{ image_id, orientation: side }] } });
    own.photos.push(model.photo(content, side));
  } else if (own.photos.length > 1) {
    const { content } = own.photos[pick % own.photos.length]!;
    for (const one of product.photos)
      if (one.content === content) await client.products.detach({ product_id, image_id: one.id });
    own.photos = own.photos.filter((photo) => photo.content !== content);
  }
}

test("an import on two machines, with another client, makes what the model says", async () => {
  const world = await mergeWorld();
  await fc.assert(
    fc.asyncProperty(story, async (one) => {
      expect(await difference(world, one)).toBeNull();
    }),
    { numRuns: repetitions(12, 800) },
  );
});

const imports = (machine: "one" | "two", ...edits: [cell: Edit["cell"], value: string][]): Step => {
  const ofA = edits.map(([cell, value]) => ({ reference: "A", cell, value }));
  return { do: "import", machine, exact: false, edits: ofA };
};
const client = (what: Extract<Step, { do: "client" }>["what"], pick = 1, reference = "A"): Step => ({
  ...{ do: "client", reference, what, pick },
});
/** For each rule, a story that it decides. A has photo 1 at the front. */
const stories: Readonly<Record<Rule, Step[]>> = {
  "not edited": [imports("one"), client("name"), imports("one")],
  "emptied field": [imports("one", ["description", "long"]), imports("one", ["description", ""])],
  "changed since": [imports("one"), client("name"), imports("one", ["name", "Coat"])],
  deleted: [imports("one"), client("delete"), imports("one")],
  "other catalogue": [imports("one"), ...references.map((one) => client("delete", 0, one)), imports("one")],
  "other product": [
    ...[imports("one"), client("delete"), imports("two", ["name", "Coat"])],
    imports("one", ["name", "Dress"]),
  ],
  "equal photo": [imports("one"), imports("two")],
  "taken side": [imports("one"), imports("two", ["front", "2"])],
  moved: [imports("one", ["back", "2"]), imports("one", ["front", ""], ["back", "1"])],
  replaced: [imports("one"), imports("one", ["front", "2"])],
  "emptied photo": [imports("one", ["back", "2"]), imports("one", ["back", ""])],
  exact: [imports("one"), client("name"), { ...imports("one"), exact: true } as Step],
};

test.each(rules)("without its rule the model says something else: %s", async (rule) => {
  const one = { first: [], steps: stories[rule] };
  const world = await mergeWorld();
  expect(await difference(world, one)).toBeNull();
  expect(await difference(world, one, rule)).not.toBeNull();
});
