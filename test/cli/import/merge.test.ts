import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { cdn, mergeWorld, nothingDone, photo } from "./merge-world.ts";

const sides = "reference,name,image_front,image_back";

/** A sheet with local photos that machine `one` has imported. */
async function imported() {
  const world = await mergeWorld();
  for (const name of ["a1", "a2", "b1"]) world.write(`${name}.png`, photo(name));
  world.sheet("a.csv", sides, "A,Dress,a1.png,a2.png", "B,Hat,b1.png,");
  expect(await world.import("a.csv", "one")).toMatchObject([0, { created: 2, photos: { added: 3 } }]);
  return world;
}

describe("rows of a batch that the service did not get are decided about again by the same command", () => {
  /** Imports a file on machine `one` while the service takes no batch. */
  async function fails(world: Awaited<ReturnType<typeof mergeWorld>>, file: string) {
    world.mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, status: 503, times: 1000 });
    expect((await world.cat(`import ${file} --no-progress`, world.home("one"))).exit).toBe(7);
    world.mock.faults.clear();
  }

  test("another machine has imported the file meanwhile: no photo is added twice", async () => {
    const world = await mergeWorld();
    for (const name of ["a1", "a2", "b1"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", sides, "A,Dress,a1.png,a2.png", "B,Hat,b1.png,");
    await fails(world, "a.csv");
    expect(await world.import("a.csv", "two")).toMatchObject([0, { created: 2 }]);
    const before = world.products();
    expect(await world.import("a.csv", "one")).toMatchObject([0, { unchanged: 2, photos: { adopted: 3 } }]);
    expect(world.products()).toEqual(before);
  });

  longTest("another client has changed what the sheet does not, or does: kept, or a conflict", async () => {
    const world = await imported();
    world.write("n.png", photo("n"));
    world.edit("a.csv", ["a1.png", "n.png"], ["B,Hat,b1.png", "B,Cap,n.png"]);
    await fails(world, "a.csv");
    await world.all("products update A --name Theirs", "products update B --name Theirs");
    expect(await world.import("a.csv", "one")).toMatchObject([8, { updated: 1, conflicts: 1 }]);
    expect(world.shown()).toEqual(["A Theirs - - back+front", "B Theirs - - front"]);
    expect(world.read("a.failed.csv")).toContain("changed_since");
  });

  longTest("another client has deleted a product: it is not created again", async () => {
    const world = await imported();
    world.write("n.png", photo("n"));
    world.edit("a.csv", ["a1.png", "n.png"]);
    await fails(world, "a.csv");
    await world.all("products delete A --yes");
    expect(await world.import("a.csv", "one")).toMatchObject([8, { conflicts: 1, created: 0 }]);
    expect(world.shown()).toEqual(["B Hat - - front"]);
  });
});

describe("a second machine that imports the same file", () => {
  test("sends nothing, and adopts the photos that have the same bytes", async () => {
    const world = await imported();
    const before = world.products();
    const sent = world.writes().length;
    const line = "import a.csv --no-progress";
    expect(await world.cat(line, world.home("two"))).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Nothing to do: both rows of a.csv are unchanged.\n  3 photos were at the service already; not sent again\n",
    });
    expect(await world.cat(line, world.home("two"))).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Nothing to do: both rows of a.csv are unchanged.\n",
    });
    expect(world.writes(sent)).toEqual([]);
    expect(world.products()).toEqual(before);
  });

  test("sends its edits alone, which the first machine keeps", async () => {
    const world = await imported();
    const sent = world.writes().length;
    world.write("a3.png", photo("a3"));
    const first = world.read("a.csv");
    world.edit("a.csv", ["Dress", "Gown"], ["b1.png,", "b1.png,a3.png"]);
    expect(await world.import("a.csv", "two")).toMatchObject([
      0,
      { ...nothingDone, submitted: 2, updated: 2, photos: { added: 1, adopted: 3, replaced: 0 } },
    ]);
    expect(world.writes(sent)).toEqual(["POST images", "POST imports", "PATCH products/ID"]);
    expect(world.shown()).toEqual(["A Gown - - front+back", "B Hat - - front+back"]);
    world.write("a.csv", first);
    const after = world.writes().length;
    expect(await world.cat("import a.csv --no-progress", world.home("one"))).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Nothing to do: both rows of a.csv are not edited.\n  1 product was changed at the service since; kept (A)\n",
    });
    expect(world.writes(after)).toEqual([]);
  });

  test("leaves a row out whose side has another photo, until a flag decides", async () => {
    const world = await imported();
    world.write("a1.png", photo("retouched"));
    const before = world.images("A");
    const sent = world.writes().length;
    const ran = await world.cat("import a.csv --no-progress", world.home("two"));
    const message = `the product has another front photo (${before[0]}) than a1.png: use --photos all to add it, or --exact to replace the other one`;
    expect(ran).toEqual({
      exit: 8,
      stdout: "",
      stderr: `Imported 1 of 2 rows from a.csv in 0.0 s: 1 unchanged.
  2 photos were at the service already; not sent again
  1 row skipped as a conflict
    a.csv:2  A  ${message}
Conflicting rows are in a.failed.csv, with the reasons. Fix them there, then run:
  cat import a.failed.csv
A conflicting row stays one until its error_code is empty, or --conflicts is given.
`,
    });
    expect(world.read("a.failed.csv")).toBe(
      `${sides},error_code,error_message\nA,Dress,a1.png,a2.png,photo_exists,"${message}"\n`,
    );
    expect(world.writes(sent)).toEqual([]);
    expect(await world.import("a.csv --exact", "two")).toMatchObject([
      0,
      {
        ...nothingDone,
        submitted: 1,
        updated: 1,
        unchanged: 1,
        photos: { added: 0, replaced: 1, removed: 0 },
      },
    ]);
    expect(world.shown()[0]).toMatch(/^A Dress - - (back\+front|front\+back)$/);
    expect(world.images("A")).not.toContain(before[0]);
    expect(world.images("A")).toContain(before[1]);
  });

  longTest("decides as the first machine does about the same sheet under another name", async () => {
    const world = await imported();
    world.write("a1.png", photo("retouched"));
    world.write("b.csv", world.read("a.csv"));
    const [front] = world.images("A");
    const sent = world.writes().length;
    for (const machine of ["one", "two"])
      expect(await world.cat("import b.csv --no-progress", world.home(machine))).toMatchObject({
        exit: 8,
        stderr: expect.stringContaining(`the product has another front photo (${front}) than a1.png`),
      });
    expect(world.writes(sent)).toEqual([]);
  });

  longTest("leaves a row out whose URL it cannot fetch, and says how to go on", async () => {
    const world = await mergeWorld();
    world.sheet("a.csv", "reference,name,images", `A,Dress,${cdn}/1.jpg`);
    await world.import("a.csv", "one");
    const sent = world.writes().length;
    expect(await world.cat("import a.csv --no-progress", world.home("two"))).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining(
        `    a.csv:2  A  cannot fetch ${cdn}/1.jpg to compare it with the photos of the product: use --photos all to add it, or --exact to replace them\n`,
      ),
    });
    expect(world.writes(sent)).toEqual([]);
    expect(await world.import("a.csv --photos all", "two")).toMatchObject([0, { updated: 1 }]);
    expect(world.images("A")).toHaveLength(2);
  });
});

describe("a photo of a place that has another source", () => {
  test.each([
    [
      "the bytes of its file",
      (world: Awaited<ReturnType<typeof imported>>) => world.write("a1.png", photo("new")),
    ],
    [
      "its URL",
      (world: Awaited<ReturnType<typeof imported>>) => world.edit("a.csv", ["a1.png", `${cdn}/new.jpg`]),
    ],
  ])("is replaced: %s", async (_, change) => {
    const world = await imported();
    const [front, back] = world.images("A");
    change(world);
    const ran = await world.cat("import a.csv --no-progress", world.home("one"));
    expect(ran).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^Imported 2 rows from a\.csv in [\d.]+ s: 1 updated, 1 unchanged\.\n {2}photos: 1 replaced\nTo undo it: cat imports undo run_\w+\n$/,
      ),
    });
    const now = world.images("A");
    expect(now).toHaveLength(2);
    expect(now).toContain(back);
    expect(now).not.toContain(front);
    expect(world.shown()[0]).toBe("A Dress - - back+front");
    const sent = world.writes().length;
    expect(await world.import("a.csv", "one")).toMatchObject([0, { ...nothingDone, unchanged: 2 }]);
    expect(world.writes(sent)).toEqual([]);
  });

  longTest("is the one of the other place: the sides are moved in one request", async () => {
    const world = await imported();
    const [front, back] = world.images("A");
    const sent = world.writes().length;
    world.edit("a.csv", ["a1.png,a2.png", "a2.png,a1.png"]);
    expect(await world.cat("import a.csv --no-progress", world.home("one"))).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /: 1 updated, 1 unchanged\.\n {2}photos: 2 moved\nTo undo it: cat imports undo run_\w+\n$/,
      ),
    });
    expect(world.writes(sent)).toEqual(["POST products/ID/images"]);
    const { images } = world.products()[0]!;
    expect(Object.fromEntries(images.map(({ id, orientation }) => [id, orientation]))).toEqual({
      [front!]: "back",
      [back!]: "front",
    });
  });
});

describe("the same photo", () => {
  test.each([
    ["ä", "%C3%A4"],
    ["%C3%A4", "ä"],
    ["a", "a#x"],
  ])("is one in every spelling of its path: %s, %s", async (one, other) => {
    const world = await mergeWorld();
    world.sheet("a.csv", "reference,name,images", `A,Dress,${cdn}/${one}.jpg`);
    await world.import("a.csv");
    const [first, second] = other.endsWith("#x")
      ? [`${one}.jpg`, `${one}.jpg#x`]
      : [`${one}.jpg`, `${other}.jpg`];
    world.edit("a.csv", [first, second]);
    expect(await world.import("a.csv")).toMatchObject([0, { ...nothingDone, unchanged: 1 }]);
    expect(world.images("A")).toHaveLength(1);
  });

  test.each([
    "https://CDN.Example.com/a.jpg",
    "https://cdn.example.com:443/a.jpg",
    "https://cdn.example.com/x/../a.jpg",
    "https://cdn.example.com/a.jpg\u200b",
    "\u200bhttps://cdn.example.com/a.jpg",
  ])("is one in every spelling of its address: %j", async (url) => {
    const world = await mergeWorld();
    world.sheet("a.csv", "reference,name,images", `A,Dress,${cdn}/a.jpg`);
    await world.import("a.csv");
    for (const file of ["a.csv", "b.csv"]) {
      world.sheet(file, "reference,name,images", `A,Dress,${url}`);
      expect(await world.import(file)).toMatchObject([0, { ...nothingDone, unchanged: 1 }]);
    }
    expect(world.images("A")).toHaveLength(1);
  });

  test("is attached once if a row names it three times, and has the side of its column", async () => {
    const world = await mergeWorld();
    const url = `${cdn}/base.jpg`;
    world.sheet("a.csv", "reference,name,image_1,image_2,image_front", `A,Dress,${url},${url},${url}`);
    expect(await world.import("a.csv")).toMatchObject([0, { created: 1, partial: 0, photos: { added: 1 } }]);
    expect(world.shown()).toEqual(["A Dress - - front"]);
    expect(await world.import("a.csv")).toMatchObject([0, { ...nothingDone, unchanged: 1 }]);
  });
});
