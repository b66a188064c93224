import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { mergeWorld, nothingDone, photo } from "./merge-world.ts";

const header = "reference,name,description,sex,image_front,image_back";

/** Two products of a plain sheet, and the sheet that was exported of them. */
async function filled() {
  const world = await mergeWorld();
  for (const name of ["a1", "a2", "b1", "b2"]) world.write(`${name}.png`, photo(name));
  world.sheet("a.csv", header, "A,Dress,silk,kid,a1.png,a2.png", "B,Hat,felt,male,b1.png,b2.png");
  await world.all("import a.csv", "products export sheet.csv");
  return world;
}

describe("an exported sheet", () => {
  test.each(sampled(["home", "two"], 1))(
    "clears emptied cells, moves, and removes photos, on any machine: %s",
    async (machine) => {
      const world = await filled();
      const [front, back] = world.images("A");
      const [kept, gone] = world.images("B");
      const sent = world.writes().length;
      world.edit(
        "sheet.csv",
        ["A,Dress,silk,kid", "A,Dress,,"],
        [`${front},${back}`, `${back},${front}`],
        [`${kept},${gone}`, `${kept},`],
      );
      expect(await world.cat("import sheet.csv --plan --no-progress", world.home(machine))).toMatchObject({
        exit: 0,
        stderr: expect.stringMatching(
          /^Plan: 2 to change \(1 description, 1 sex\), 1 photo to remove, 2 photos to move; 3 requests, about 1 min\.\n$/,
        ),
      });
      expect(world.writes(sent)).toEqual([]);
      expect(await world.cat("import sheet.csv --no-progress", world.home(machine))).toMatchObject({
        exit: 0,
        stderr: expect.stringMatching(
          /^Imported 2 rows from sheet\.csv in [\d.]+ s: 2 updated\.\n {2}photos: 1 removed, 2 moved\nTo undo it: cat imports undo run_\w+\n$/,
        ),
      });
      expect(world.writes(sent).sort()).toEqual([
        "DELETE products/ID/images/ID",
        "PATCH products/ID",
        "POST products/ID/images",
      ]);
      expect(world.images("B")).toEqual([kept]);
      expect(world.shown()).toEqual(["A Dress - - back+front", "B Hat felt male front"]);
      expect(await world.cat("import sheet.csv --plan --no-progress", world.home(machine))).toMatchObject({
        stderr: "Plan: 2 unchanged; nothing to send.\n",
      });
      await world.all("products update A --description cotton");
      // The import is undone except for what others changed since.
      expect(await world.cat("imports undo last --yes", world.home(machine))).toMatchObject({ exit: 8 });
      expect(world.shown()).toEqual(["A Dress cotton kid front+back", "B Hat felt male front+back"]);
      expect(new Set(world.images("B"))).toEqual(new Set([kept, gone]));
    },
  );
});

describe("a plain sheet", () => {
  test("clears and removes nothing, says so each time, and does it with --exact", async () => {
    const world = await filled();
    const sent = world.writes().length;
    world.edit("a.csv", ["A,Dress,silk,kid", "A,Dress,,"], ["b1.png,b2.png", "b1.png,"]);
    for (let times = 0; times < 2; times++) {
      const ran = await world.cat("import a.csv --no-progress");
      expect(ran).toEqual({
        exit: 0,
        stdout: "",
        stderr: `Nothing to do: both rows of a.csv are not edited.
  2 fields were emptied in the sheet; kept (A). To clear them, add --exact
  1 photo was removed in the sheet; kept (B). To detach it, add --exact
`,
      });
    }
    expect(await world.import("a.csv")).toMatchObject([
      0,
      { ...nothingDone, kept: 2, not_applied: { emptied: 2, removed: 1 } },
    ]);
    expect(world.writes(sent)).toEqual([]);
    expect(await world.import("a.csv --exact")).toMatchObject([
      0,
      { ...nothingDone, submitted: 2, updated: 2, photos: { ...nothingDone.photos, removed: 1 } },
    ]);
    expect(world.shown()).toEqual(["A Dress - - front+back", "B Hat felt male front"]);
  });

  test("that nobody edited sets nothing back: Monday's sheet on Wednesday", async () => {
    const world = await filled();
    await world.all(
      "products update A --name Coat --description wool",
      "products update B --sex female",
      `products detach B ${world.images("B")[1]}`,
    );
    const before = world.products();
    const sent = world.writes().length;
    expect(await world.cat("import a.csv --no-progress")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Nothing to do: both rows of a.csv are not edited.\n  2 products were changed at the service since; kept (A, B)\n",
    });
    expect(world.writes(sent)).toEqual([]);
    expect(world.products()).toEqual(before);
  });

  longTest(
    "that was not imported from here before says how much it changes, and asks on a terminal",
    async () => {
      const world = await mergeWorld();
      world.write("a.png", photo("a"));
      const rows = (name: string) => Array.from({ length: 25 }, (_, at) => `R-${at},${name} ${at},a.png`);
      world.sheet("a.csv", "reference,name,images", ...rows("Dress"));
      await world.all("import a.csv");
      world.sheet("old.csv", "reference,name,images", ...rows("Gown"));
      const sent = world.writes().length;
      const terminal = atTerminal(world, "import old.csv --no-progress");
      await terminal.type("Change 25 of 25 products: 25 names?", "n", "\r");
      expect(await terminal.ran).toMatchObject({ exit: 2 });
      expect(world.writes(sent)).toEqual([]);
      expect(await world.cat("import old.csv --no-progress")).toMatchObject({
        exit: 0,
        stderr: expect.stringMatching(
          /^This file was not imported from here before, and changes 25 of 25 products: 25 names\.\n/m,
        ),
      });
    },
  );
});

describe("--exact", () => {
  test("makes the products as the rows say, whoever changed them", async () => {
    const world = await filled();
    const [front, back] = world.images("A");
    world.write("more.png", photo("more"));
    await world.all(
      "products update A --name Coat",
      "products attach A more.png:detail",
      `products attach A ${front}:side`,
      "products delete B --yes",
    );
    expect(await world.import("a.csv --exact")).toMatchObject([
      0,
      { ...nothingDone, submitted: 2, updated: 1, created: 1, photos: { added: 2, removed: 1, moved: 1 } },
    ]);
    expect(world.shown()).toEqual(["A Dress silk kid front+back", "B Hat felt male front+back"]);
    expect(world.images("A")).toEqual([front, back]);
    expect(await world.import("a.csv --exact")).toMatchObject([0, { ...nothingDone, unchanged: 2 }]);
  });
});

longTest(
  "a photo that is put back in its place is attached again, though another one was emptied meanwhile",
  async () => {
    const world = await mergeWorld();
    for (const name of ["1", "2", "3"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", "reference,name,image_front,image_back", "A,Dress,1.png,2.png");
    await world.all("import a.csv");
    const [front] = world.images("A");
    world.edit("a.csv", ["1.png,2.png", ",3.png"]);
    expect(await world.import("a.csv")).toMatchObject([
      0,
      { photos: { replaced: 1 }, not_applied: { removed: 1 } },
    ]);
    world.edit("a.csv", [",3.png", ",2.png"]);
    expect(await world.import("a.csv")).toMatchObject([
      0,
      { photos: { replaced: 1 }, not_applied: { removed: 1 } },
    ]);
    expect(world.images("A")).toHaveLength(2);
    expect(world.images("A")).toContain(front);
    expect(world.shown()).toEqual(["A Dress - - front+back"]);
  },
);

test("plan and summary have the same sums where a moved photo replaces another one", async () => {
  const world = await mergeWorld();
  for (const name of ["1", "2", "3"]) world.write(`${name}.png`, photo(name));
  world.sheet("a.csv", "reference,name,image_front,image_back", "A,Dress,1.png,2.png");
  await world.all("import a.csv");
  world.sheet("a.csv", "reference,name,image_front,image_back", "A,Dress,2.png,", "B,Hat,3.png,");
  const photos = { added: 1, replaced: 1, removed: 0, moved: 1, adopted: 0 };
  const plan = await world.cat("import a.csv --plan --json");
  expect(JSON.parse(plan.stdout.trim().split("\n").at(-1)!)).toMatchObject({ photos });
  expect(await world.import("a.csv")).toMatchObject([0, { created: 1, updated: 1, photos }]);
  expect(world.shown()).toEqual(["A Dress - - front", "B Hat - - front"]);
});

longTest("a run that goes on after it was stopped counts the photos of all its processes", async () => {
  const world = await filled();
  for (const reference of ["A", "B"]) world.edit("sheet.csv", [`,${world.images(reference)[1]}`, ","]);
  const last = world.read("sheet.csv").trim().split("\n").at(-1)!.slice(0, 1);
  const second = world.products().find(({ reference }) => reference === last)!.id;
  await world.fault({ match: { method: "DELETE", path: `/v1/products/${second}` }, status: 503, times: 50 });
  expect(await world.import("sheet.csv --concurrency 1")).toMatchObject([7, { photos: { removed: 1 } }]);
  await world.fault();
  expect(await world.import("sheet.csv --concurrency 1")).toMatchObject([
    0,
    { updated: 2, photos: { removed: 2 } },
  ]);
});

longTest(
  "an import that was undone is carried out again by the same file, and overwrites nothing of others",
  async () => {
    const world = await mergeWorld();
    for (const name of ["1", "2"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", "reference,name,image_front", "A,Dress,1.png", "B,Hat,1.png");
    await world.all("import a.csv");
    const [front] = world.images("A");
    world.edit("a.csv", ["A,Dress,1.png", "A,Gown,2.png"], ["B,Hat", "B,Cap"]);
    await world.all("import a.csv", "imports undo last --yes", "products update B --name Theirs");
    expect([world.shown(), world.images("A")]).toEqual([
      ["A Dress - - front", "B Theirs - - front"],
      [front],
    ]);
    expect(await world.import("a.csv")).toMatchObject([
      8,
      { updated: 1, conflicts: 1, photos: { replaced: 1 } },
    ]);
    expect(world.shown()).toEqual(["A Gown - - front", "B Theirs - - front"]);
    expect(world.images("A")).not.toContain(front);
  },
);

describe("--max-removals", () => {
  /** 30 products with two photos each, of which the exported sheet removes 25. */
  async function removing() {
    const world = await mergeWorld();
    for (const name of ["1", "2"]) world.write(`${name}.png`, photo(name));
    const rows = Array.from({ length: 30 }, (_, at) => `R-${at},Dress,1.png,2.png`);
    world.sheet("a.csv", "reference,name,image_front,image_back", ...rows);
    await world.all("import a.csv", "products export sheet.csv");
    for (let at = 0; at < 25; at++) world.edit("sheet.csv", [`,${world.images(`R-${at}`)[1]}`, ","]);
    return world;
  }
  const error = (what: string, most: string) =>
    `error: 25 of 60 photos would be detached, ${what}; nothing was sent\nCheck them with --plan. If they are right, use --max-removals ${most}.\n`;

  longTest("is needed to detach more than 20 photos and a tenth, and holds as it is", async () => {
    const world = await removing();
    const sent = world.writes().length;
    const ran = async (flags: string) => world.cat(`import sheet.csv --no-progress ${flags}`.trim());
    expect(await ran("")).toEqual({ exit: 3, stdout: "", stderr: error("more than a tenth", "25") });
    expect(await ran("--max-removals 24")).toEqual({
      exit: 3,
      stdout: "",
      stderr: error("more than --max-removals 24", "25"),
    });
    expect(await ran("--max-removals 41%")).toEqual({
      exit: 3,
      stdout: "",
      stderr: error("more than --max-removals 41%", "42%"),
    });
    expect(await ran("--plan")).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(
        "The import detaches 25 of 60 photos: it asks first on a terminal, and elsewhere needs --max-removals 25.\n",
      ),
    });
    expect(world.writes(sent)).toEqual([]);
    expect(await ran("--max-removals 42%")).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("  photos: 25 removed\n"),
    });
    expect(world.writes(sent)).toEqual(Array(25).fill("DELETE products/ID/images/ID"));
  });

  test("is a question on a terminal", async () => {
    const world = await removing();
    const sent = world.writes().length;
    const terminal = atTerminal(world, "import sheet.csv --no-progress");
    await terminal.type("Detach 25 of 60 photos (25 removed)?", "n", "\r");
    expect(await terminal.ran).toMatchObject({ exit: 2 });
    expect(world.writes(sent)).toEqual([]);
  });
});

longTest("--plan --exit-code exits with 9 if something would change, and with 0 otherwise", async () => {
  const world = await filled();
  const exit = async () => (await world.cat("import a.csv --plan --exit-code --no-progress")).exit;
  expect(await exit()).toBe(0);
  await world.all("products update A --name Coat");
  expect(await exit()).toBe(0);
  world.edit("a.csv", ["felt", "wool"]);
  expect(await exit()).toBe(9);
  await world.all("import a.csv");
  expect(await exit()).toBe(0);
});

longTest("imports undo takes replaced photos back", async () => {
  const world = await filled();
  const before = world.images("A");
  world.write("a1.png", photo("retouched"));
  await world.all("import a.csv");
  expect(world.images("A")).not.toEqual(before);
  expect(await world.cat("imports undo last --yes")).toEqual({
    exit: 0,
    stdout: "",
    stderr: expect.stringMatching(
      /^The import of a\.csv changed 1 product: 1 photo to detach, 1 photo to attach again \(at most 2 requests, [^\n]*\nWebhooks [^\n]*\nUndone: 1 of 1 product of a\.csv: 1 photo detached, 1 photo attached again\.\n$/,
    ),
  });
  expect(new Set(world.images("A"))).toEqual(new Set(before));
  expect(world.products()[0]!.images.find(({ id }) => id === before[0])!.orientation).toBe("front");
  // The row is edited as it was before the import that was undone.
  expect(await world.import("a.csv")).toMatchObject([
    0,
    { updated: 1, unchanged: 1, photos: { replaced: 1 } },
  ]);
  expect(world.images("A")).toHaveLength(2);
  expect(world.images("A")).not.toContain(before[0]);
});

test("after an undo that failed in the middle of a product, its rows are not taken for carried out", async () => {
  const world = await filled();
  world.edit("sheet.csv", ["Dress", "Gown"]);
  world.write("n.png", photo("n"));
  const front = world.images("A")[0]!;
  world.edit("sheet.csv", [front, "n.png"]);
  await world.all("import sheet.csv");
  const imported = world.shown();
  world.mock.faults.add({ match: { method: "DELETE" }, status: 422, times: 1 });
  expect(await world.cat("imports undo last --yes")).toMatchObject({ exit: 8 });
  expect(world.shown()).not.toEqual(imported);
  expect(await world.import("sheet.csv")).toMatchObject([0, { updated: 1, kept: 0 }]);
  expect(world.shown()[0]).toMatch(/^A Gown /);
});

test.each(["", " --exact"])(
  "a photo that a row names by its ID and its path is one photo: %s",
  async (flags) => {
    const world = await mergeWorld();
    world.write("1.png", photo("1"));
    world.sheet("a.csv", "reference,name,image_front", "A,Dress,1.png");
    await world.all("import a.csv");
    const [id] = world.images("A");
    for (const cells of [`${id},1.png`, `1.png,${id}`]) {
      world.sheet("a.csv", "reference,name,image_front,image_back", `A,Dress,${cells}`);
      for (const _ of [1, 2])
        expect(await world.import(`a.csv${flags}`)).toMatchObject([
          0,
          { unchanged: 1, photos: { moved: 0 } },
        ]);
    }
    expect(world.shown()).toEqual(["A Dress - - front"]);
  },
);
