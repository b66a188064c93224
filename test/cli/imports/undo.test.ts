import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";
import { numberedRows } from "./imports-world.ts";

const url = "https://cdn.example.com";
const first = `reference,name,description,images
A,Dress,,${url}/a.jpg
B,Shirt,cotton,${url}/b.jpg
C,Belt,,${url}/c.jpg
`;
/** The wrong column as names, another photo, and a new product. */
const wrong = `reference,name,description,images
A,a.jpg,silk,${url}/a.jpg
B,Shirt,cotton,${url}/b.jpg|${url}/b2.jpg
C,c.jpg,,${url}/c.jpg|${url}/c2.jpg
D,Hat,,${url}/d.jpg
`;

async function imported() {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", first);
  expect((await world.cat("import a.csv")).exit).toBe(0);
  const before = catalogue(world);
  world.write("a.csv", wrong);
  const { exit, stdout } = await world.cat("import a.csv --json");
  expect(exit).toBe(0);
  return { ...world, before, run: JSON.parse(stdout).run_id as string };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const catalogue = (world: Pick<World, "products">) =>
  world.products().map(({ reference, name, description, sex, images }) => ({
    ...{ reference, name, description, sex },
    images: images.map(({ id }) => id),
  }));

const writes = (world: Pick<World, "requests">, from = 0) =>
  world
    .requests()
    .slice(from)
    .filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${path.split("/").slice(2).join("/")}`);

test("an undo sets fields back, detaches photos and deletes created products", async () => {
  const world = await imported();
  const sent = world.requests().length;
  expect(await world.cat("imports undo last --yes")).toEqual({
    exit: 0,
    stdout: "",
    stderr: `The import of a.csv changed 4 products: 1 product to delete, 2 products to set back, 2 photos to detach (at most 5 requests, about 1 min).
Webhooks that were sent and credits that were spent are not undone.
Undone: 4 of 4 products of a.csv: 1 product deleted, 2 products set back, 2 photos detached.
`,
  });
  expect(catalogue(world)).toEqual(world.before);
  expect(writes(world, sent)).toHaveLength(5);
  // Nothing is left to confirm.
  const again = await world.cat("imports undo last --json");
  expect(JSON.parse(again.stdout)).toMatchObject({ undone: 4, deleted: 0, set_back: 0, detached: 0 });
  expect((await world.cat("imports undo last --yes")).stderr).toBe(
    "Nothing to undo: 4 of 4 products of a.csv are as before the import.\n",
  );
  expect(writes(world, sent)).toHaveLength(5);
});

longTest("after an undo, the same file is imported again as the first time", async () => {
  const world = await imported();
  const after = catalogue(world);
  await world.cat("imports undo last --yes");
  const ran = await world.cat("import a.csv --json");
  expect(JSON.parse(ran.stdout)).toMatchObject({ created: 1, updated: 3, unchanged: 0 });
  const counts = (products: typeof after) =>
    products.map(({ images, ...product }) => ({ ...product, images: images.length }));
  expect(counts(catalogue(world))).toEqual(counts(after));
});

test("--plan reads alone, and shows what is kept", async () => {
  const world = await imported();
  await world.cat("products update A --name Coat");
  const sent = world.requests().length;
  const ran = await world.cat("imports undo last --plan");
  expect(ran).toEqual({
    exit: 0,
    stdout: `reference  result  reason
A          kept    name changed since the import
`,
    stderr: `The import of a.csv changed 4 products: 1 product to delete, 2 products to set back, 2 photos to detach (at most 5 requests, about 1 min).
Webhooks that were sent and credits that were spent are not undone.
Undo plan: 3 of 4 products of a.csv can be undone: 1 product deleted, 2 products set back, 2 photos detached. Nothing was sent.
  1 product kept
`,
  });
  expect(writes(world, sent)).toEqual([]);
});

test("fields and products that others changed are kept, and the rest is undone", async () => {
  const world = await imported();
  await world.cat("products update A --name Coat");
  await world.cat("products update D --description mine");
  const { exit, stdout } = await world.cat("imports undo last --yes");
  expect([exit, stdout]).toEqual([
    8,
    `reference  result  reason
A          kept    name changed since the import
D          kept    description changed since the import
`,
  ]);
  const [a, b, c] = world.before;
  const d = world.products().find(({ reference }) => reference === "D")!;
  expect(catalogue(world)).toEqual([
    { ...a, name: "Coat" },
    b,
    c,
    { reference: "D", name: "Hat", description: "mine", sex: null, images: d.images.map(({ id }) => id) },
  ]);
});

test("a created product with generated images is kept, unless --with-generations is given", async () => {
  const world = await imported();
  const { id } = world.products().find(({ reference }) => reference === "D")!;
  const made = await world.cat(
    `beautify --product ${id} --subtype clothing --background white --angle front --yes`,
  );
  expect(made.exit).toBe(0);
  const kept = await world.cat("imports undo last --yes");
  expect([kept.exit, kept.stdout.split("\n")[1]]).toEqual([
    8,
    "D          kept    images were generated of it (--with-generations deletes it)",
  ]);
  expect(world.products()).toHaveLength(4);
  expect((await world.cat("imports undo last --yes --with-generations")).exit).toBe(0);
  expect(catalogue(world)).toEqual(world.before);
});

test.each(
  sampled(
    [
      ["created", ["DELETE products/D"]],
      ["fields", ["PATCH products/A", "PATCH products/C"]],
      ["photos", ["DELETE products/B/images/b2", "DELETE products/C/images/c2"]],
    ],
    1,
  ),
)("--only %s undoes nothing else, and the rest can follow", async (part, expected) => {
  const world = await imported();
  const names = new Map(world.products().map(({ id, reference }) => [id, reference]));
  const sent = world.requests().length;
  expect((await world.cat(`imports undo last --yes --only ${part} --concurrency 1`)).exit).toBe(0);
  const sentNow = writes(world, sent).map((line) =>
    line.replace(/products\/(\w+)/, (_, id) => `products/${names.get(id)}`),
  );
  expect(sentNow.map((line) => line.replace(/images\/\w+$/, "images/")).sort()).toEqual(
    expected.map((line) => line.replace(/images\/\w+$/, "images/")),
  );
  expect((await world.cat("imports undo last --yes")).exit).toBe(0);
  expect(catalogue(world)).toEqual(world.before);
});

test("an older import names the later one that is in the way", async () => {
  const world = await imported();
  world.write("b.csv", wrong.replace("a.jpg,silk", "Later,silk").split("\n").slice(0, 2).join("\n"));
  const later = JSON.parse((await world.cat("import b.csv --json")).stdout).run_id;
  const ran = await world.cat(`imports undo ${world.run} --yes`);
  expect([ran.exit, ran.stdout.split("\n")[1]]).toEqual([
    8,
    `A          kept    changed by a later import of b.csv: undo that first (cat imports undo ${later})`,
  ]);
  expect((await world.cat(`imports undo ${later} --yes`)).exit).toBe(0);
  expect((await world.cat(`imports undo ${world.run} --yes`)).exit).toBe(0);
  expect(catalogue(world)).toEqual(world.before);
});

longTest("an import of products that this machine did not know is undone completely", async () => {
  const world = await imported();
  world.write("other.csv", `reference,name,images\nA,Other,${url}/x.jpg\nE,Bag,${url}/e.jpg\n`);
  const before = catalogue(world);
  const ran = await world.cat("import other.csv --photos all --ledger other.db --json");
  const { run_id } = JSON.parse(ran.stdout);
  expect(catalogue(world)).not.toEqual(before);
  expect(await world.cat(`imports undo ${run_id} --ledger other.db --yes`)).toMatchObject({
    exit: 0,
    stdout: "",
  });
  expect(catalogue(world)).toEqual(before);
});

longTest("an applied plan is undone completely, also without a ledger", async () => {
  const world = await imported();
  const before = catalogue(world);
  world.write("other.csv", `reference,name,images\nA,Other,${url}/x.jpg\nE,Bag,${url}/e.jpg\n`);
  await world.cat("import other.csv --photos all --ledger other.db --plan plan.ndjson");
  expect((await world.cat("import --apply plan.ndjson --ledger other.db")).exit).toBe(0);
  expect((await world.cat("imports undo last --ledger other.db --yes")).exit).toBe(0);
  expect(catalogue(world)).toEqual(before);
});

test("an undo that stops is resumed by the same command", async () => {
  const world = await imported();
  const fault = (order: object | null) =>
    fetch(`${world.mock.baseUrl}/_mock/faults`, {
      method: order === null ? "DELETE" : "POST",
      headers: { "content-type": "application/json" },
      ...(order !== null && { body: JSON.stringify(order) }),
    });
  await fault({ match: { method: "PATCH" }, drop: "after" });
  await fault({ match: { method: "DELETE" }, drop: "before" });
  const stopped = await world.cat("imports undo last --yes");
  expect(stopped.exit).toBe(7);
  await fault(null);
  const ran = await world.cat("imports undo last --yes --json");
  expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([0, { total: 4, undone: 4, kept: 0 }]);
  expect(catalogue(world)).toEqual(world.before);
});

test("an import that was stopped is undone, and its batch is not taken for unsent", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", first);
  await world.cat("import a.csv --no-wait");
  const ran = await world.cat("imports undo last --yes");
  expect([ran.exit, ran.stderr.split("\n").at(-2)]).toEqual([
    0,
    "Undone: 3 of 3 products of a.csv: 3 products deleted.",
  ]);
  expect(world.products()).toEqual([]);
});

test("a question comes first, and without a terminal --yes is needed", async () => {
  const world = await imported();
  // The second time, the undo has begun already.
  for (let times = 0; times < 2; times++) {
    const ran = await world.cat(`imports undo ${world.run}`);
    expect([ran.exit, ran.stderr.split("\n").at(-3)]).toEqual([
      2,
      "error: to undo the import of a.csv, a confirmation is needed; nothing was undone",
    ]);
  }
  expect(catalogue(world)).not.toEqual(world.before);
});

test("cat imports undo exits with 5 for a run that this machine does not know", async () => {
  const world = await createWorld();
  const ran = await world.cat("imports undo run_x --yes");
  expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
    5,
    'error: no import with the run "run_x" on this machine',
  ]);
});

longTest(
  "a file of over a hundred products is recorded by listing the catalogue once, and undone",
  async () => {
    const world = await createWorld({ mock: { demo: 3, rateLimit: false } });
    const count = repetitions(120, 450);
    const file = (name: string) =>
      [
        "reference,name,images",
        ...Array.from(
          { length: count },
          (_, at) => `R${at},${name} ${at},${url}/${at}.jpg|${url}/${at}-${name}.jpg`,
        ),
      ].join("\n");
    world.write("a.csv", file("Good"));
    expect((await world.cat("import a.csv")).exit).toBe(0);
    const before = catalogue(world);
    world.write("a.csv", file("Wrong"));
    const sent = world.requests().length;
    expect((await world.cat("import a.csv")).exit).toBe(0);
    const listed = world
      .requests()
      .slice(sent)
      .filter(({ path }) => path.startsWith("/v1/products?limit=100"));
    // Three products are others.
    expect(listed).toHaveLength(Math.ceil((count + 3) / 100));
    expect(writes(world, sent)).toHaveLength(1);
    const ran = await world.cat("imports undo last --yes --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ total: count, undone: count, set_back: count, detached: count },
    });
    expect(catalogue(world)).toEqual(before);
  },
);

test("no request that changes a known product is sent before the product is recorded", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  const rows = (name: string) => numberedRows(repetitions(3, 120), name);
  world.write("a.csv", rows("Good"));
  await world.cat("import a.csv");
  world.write("a.csv", rows("Wrong"));
  const order = { match: { method: "GET", path: "/v1/products" }, status: 500, times: 1_000 };
  await fetch(`${world.mock.baseUrl}/_mock/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  const sent = world.requests().length;
  expect((await world.cat("import a.csv")).exit).toBe(7);
  expect(writes(world, sent)).toEqual([]);
});

test.each(
  sampled(
    [
      ["failed", "b.csv", 8],
      ["was refused", "b.csv", 4],
      ["was unchanged", "a.csv", 0],
    ],
    1,
  ),
)("last is the last import, never an earlier one, also if it %s", async (kind, file, exit) => {
  const world = await imported();
  world.write("b.csv", "reference,name,images\nX,Coat,https://cdn.example.com/fail-http_error.jpg\n");
  if (kind === "was refused")
    world.mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
  expect((await world.cat(`import ${file}`)).exit).toBe(exit);
  const before = catalogue(world);
  const undone = await world.cat("imports undo last --yes");
  expect([undone.exit, undone.stderr]).toEqual([
    5,
    expect.stringMatching(new RegExp(`^error: nothing is recorded that the import of ${file} changed`)),
  ]);
  expect(catalogue(world)).toEqual(before);
});

longTest("cat imports undo exits with 5 for an import of which nothing is recorded", async () => {
  const world = await imported();
  const ran = await world.cat("import a.csv --json");
  const { run_id } = JSON.parse(ran.stdout);
  const undone = await world.cat(`imports undo ${run_id} --yes`);
  expect([undone.exit, undone.stderr.split("\n").at(-3)]).toEqual([
    5,
    `error: nothing is recorded that the import of a.csv changed (run ${run_id})`,
  ]);
});

longTest("photos that an import turned get their sides back", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", `reference,name,image_front,image_back\nA,Dress,${url}/a.jpg,${url}/b.jpg\n`);
  await world.cat("import a.csv");
  const sides = () => world.products()[0]!.images.map(({ id, orientation }) => [id, orientation]);
  const before = sides();
  expect(before.map(([, side]) => side)).toEqual(["front", "back"]);
  await world.cat("products export sheet.csv");
  world.write(
    "sheet.csv",
    world.read("sheet.csv").replace("image_front,image_back", "image_back,image_front"),
  );
  expect((await world.cat("import sheet.csv --photos all")).exit).toBe(0);
  expect(sides()).not.toEqual(before);
  const ran = await world.cat("imports undo last --yes");
  expect(ran).toEqual({
    exit: 0,
    stdout: "",
    stderr: expect.stringMatching(/\nUndone: 1 of 1 product of sheet\.csv: 2 photos attached again\.\n$/),
  });
  expect(sides()).toEqual(before);
});

test("a photo that got its side by an import has none again, unless others gave it another one", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  const rows = `A,Dress,${url}/a.jpg\nB,Shirt,${url}/b.jpg\n`;
  world.write("a.csv", `reference,name,image_1\n${rows}`);
  await world.cat("import a.csv");
  const before = world.products().map(({ images }) => images);
  expect(before.flat().map(({ orientation }) => orientation)).toEqual(["unlabeled", "unlabeled"]);
  world.write("a.csv", `reference,name,image_front\n${rows}`);
  await world.cat("import a.csv");
  const [a, b] = world.products();
  expect([a!.images[0]!.orientation, b!.images[0]!.orientation]).toEqual(["front", "front"]);
  const turned = await world.cat(`products attach ${b!.id} ${b!.images[0]!.id}:left`);
  expect(turned.exit).toBe(0);
  const ran = await world.cat("imports undo last --yes");
  expect(ran).toEqual({
    exit: 8,
    stdout:
      "reference  result  reason\nB          kept    the orientation of a photo changed since the import\n",
    stderr: expect.stringMatching(
      /\nUndone: 1 of 2 products of a\.csv: 1 photo attached again\.\n {2}1 product kept\n$/,
    ),
  });
  expect(world.products().map(({ images }) => images)).toEqual([
    before[0],
    [{ ...before[1]![0]!, orientation: "left" }],
  ]);
});

test("a ledger that does not exist is not created", async () => {
  const world = await imported();
  expect(await world.cat("imports undo last --ledger other.db --yes")).toMatchObject({
    exit: 2,
    stderr: "error: cannot read --ledger other.db: it does not exist\nChoose the file that the import had.\n",
  });
  expect(existsSync(join(world.folder, "other.db"))).toBe(false);
});

longTest("a product that others changed while photos were uploaded is skipped as a conflict", async () => {
  const world = await imported();
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  world.write("p.png", Buffer.from(png, "base64"));
  world.write("a.csv", `reference,name,images\nA,Wrong,${url}/a.jpg|p.png\n`);
  world.mock.faults.add({ match: { method: "POST", path: "/v1/images" }, delay_ms: 60_000, times: 1 });
  const uploads = () => world.requests().filter(({ path }) => path === "/v1/images").length;
  const running = world.cat("import a.csv");
  await until(() => uploads() === 1);
  await world.cat("products update A --name Coat");
  world.clock.advance(60_000);
  expect(await running).toMatchObject({ exit: 8 });
  expect(world.products()[0]).toMatchObject({ name: "Coat", images: [{}] });
  expect(world.read("a.failed.csv")).toMatch(/^A,Wrong,.*,changed_since,/m);
});

longTest(
  "a product that others changed during an import of many fields is skipped as a conflict",
  async () => {
    const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
    const rows = (name: string) => numberedRows(61, name);
    world.write("a.csv", rows("Good"));
    await world.cat("import a.csv");
    world.write("a.csv", rows("Wrong"));
    world.mock.faults.add({ match: { method: "PATCH" }, delay_ms: 60_000, times: 1 });
    const sent = world.requests().length;
    const running = world.cat("import a.csv --concurrency 1");
    await until(() => writes(world, sent).length === 1);
    await world.cat("products update R60 --name Coat");
    world.clock.advance(60_000);
    expect((await running).exit).toBe(8);
    expect(world.products().at(-1)!.name).toBe("Coat");
    expect((await world.cat("imports undo last --yes")).exit).toBe(0);
    expect(world.products().map(({ name }) => name)).toEqual([...Array(60).fill("Good"), "Coat"]);
  },
);

longTest(
  "a photo that was detached from a product with kept fields is attached by the next import again",
  async () => {
    const world = await imported();
    await world.cat("products update C --name Coat");
    const { exit, stderr } = await world.cat("imports undo last --yes --json");
    expect([exit, JSON.parse(stderr).error.message]).toEqual([8, "1 of 4 products of a.csv not undone"]);
    const photos = () => world.products().map(({ images }) => images.length);
    expect(photos()).toEqual([1, 1, 1]);
    await world.cat("import a.csv");
    expect(photos()).toEqual([1, 2, 2, 1]);
  },
);

longTest(
  "a product whose change was rejected is set back to what others wrote before it was sent again",
  async () => {
    const world = await imported();
    world.write("a.csv", `reference,name,images\nA,Wrong,${url}/a.jpg\nB,Wrong,${url}/b.jpg\n`);
    world.mock.faults.add({ match: { method: "PATCH" }, status: 402 });
    expect((await world.cat("import a.csv")).exit).toBe(4);
    world.mock.faults.clear();
    await world.cat("products update A --name Coat");
    expect((await world.cat("import a.csv")).exit).toBe(8);
    // B was changed by the import before.
    expect((await world.cat("import a.csv --conflicts sheet")).exit).toBe(0);
    expect((await world.cat("imports undo last --yes")).exit).toBe(0);
    expect(world.products().map(({ name }) => name)).toEqual(["Coat", "Wrong", "c.jpg", "Hat"]);
  },
);

longTest("a created product that others changed while generated images were looked for is kept", async () => {
  const world = await imported();
  world.mock.faults.add({ match: { method: "GET", path: "/v1/exports" }, delay_ms: 60_000, times: 1 });
  const reads = () => world.requests().filter(({ path }) => path.startsWith("/v1/exports")).length;
  const before = reads();
  const running = world.cat("imports undo last --yes");
  await until(() => reads() > before);
  await world.cat("products update D --name Coat");
  world.clock.advance(60_000);
  expect((await running).exit).toBe(8);
  expect(world.products().map(({ name }) => name)).toContain("Coat");
});
