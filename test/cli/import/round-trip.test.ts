import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { product } from "../../client/world.ts";
import { json, scriptedServer, stopServers } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const orientations = ["front", "back", "detail", undefined] as const;

/** Text that a spreadsheet, a CSV reader or an import might change. */
const names = [
  ...["Linen dress", "=1+1", "-10% shirt", "'-quoted", "@home", "+49", "-5", " spaces around ", "a,b;c|d"],
  ...['5" heel', "two\nlines", "carriage\r\nreturn", "\u200eleft to right", "tab\tinside", "Émile 女 😀"],
];

/** A mock with one product for each name, with 1 to 6 photos of all kinds, imported by another machine. */
async function filled(): Promise<TestWorld> {
  const world = await createWorld({ mock: { rateLimit: false } });
  const rows = names.map((name, at) => ({
    reference: `${at % 2 === 0 ? "" : "-"}R-${at}`,
    name,
    ...(at % 3 === 0 ? {} : { description: ` ${name} ` }),
    ...(at % 2 === 0 ? {} : { sex: "kid" }),
    images: Array.from({ length: 1 + (at % 6) }, (_, photo) => {
      const orientation = orientations[(at + photo) % orientations.length];
      return { url: `${cdn}/${at}-${photo}.jpg`, ...(orientation !== undefined && { orientation }) };
    }),
  }));
  world.write("all.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  expect(await world.cat("import all.ndjson --no-progress")).toMatchObject({ exit: 0 });
  return world;
}

const writesOf = (world: TestWorld) =>
  world
    .requests()
    .filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"))
    .map(({ method, path }) => `${method} ${path.split(/[?]|(?<=products\/)/)[0]}`);

/** The sheet with `cat2_` for what its rows were. */
const withoutValues = (csv: string) => csv.replace(/cat2[\w-]+$/gm, "cat2_");

/** A machine without a ledger. */
const elsewhere = (world: TestWorld, home = "elsewhere") => ({ env: { CAT_HOME: join(world.folder, home) } });

async function save(world: TestWorld, command: string, file: string): Promise<void> {
  const { exit, stdout, stderr } = await world.cat(command);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  world.write(file, stdout);
}

describe("the file of cat products export", () => {
  test.each(["sheet.csv", ...repetitions([], ["sheet.xlsx", "sheet.ndjson", "sheet.csv --excel"])])(
    "imports back without a change, here and without a ledger: %s",
    async (typed) => {
      const [file] = typed.split(" ") as [string];
      const world = await filled();
      const before = world.products();
      const writes = writesOf(world);
      expect(await world.cat(`products export ${typed}`)).toEqual({
        exit: 0,
        stdout: "",
        stderr: `Wrote ${names.length} products to ${file}. Edit it, then see what an import would change: cat import ${file} --plan\n`,
      });
      for (const call of [{}, elsewhere(world)]) {
        expect(await world.cat(`import ${file} --no-progress`, call)).toMatchObject({
          exit: 0,
          stderr: expect.stringContaining(
            `Nothing to do: all ${names.length} rows of ${file} are unchanged.`,
          ),
        });
      }
      expect(writesOf(world)).toEqual(writes);
      expect(world.products()).toEqual(before);
    },
  );

  longTest(
    "imports back without a change if a spreadsheet saved other line breaks in its cells",
    async () => {
      const world = await filled();
      await world.cat("products export sheet.csv");
      world.write("sheet.csv", world.read("sheet.csv").replaceAll("\r\n", "\n"));
      expect(await world.cat("import sheet.csv --no-progress")).toMatchObject({
        exit: 0,
        stderr: `Nothing to do: all ${names.length} rows of sheet.csv are unchanged.\n`,
      });
    },
  );

  test("is that of products list --for-import as CSV, for a file and for stdout", async () => {
    const world = await filled();
    const { stdout } = await world.cat("products list --for-import --q dress");
    await world.cat("products export dresses.csv --q dress");
    expect(world.read("dresses.csv")).toBe(stdout);
    expect(await world.cat("products export - --q dress")).toEqual({ exit: 0, stdout, stderr: "" });
    expect((await world.cat("products export - --format ndjson")).stdout).toBe(
      (await world.cat("products list --for-import --json")).stdout,
    );
    expect((await world.cat("products export all.xlsx --json")).stdout).toBe(
      `${JSON.stringify({ file: "all.xlsx", format: "xlsx", products: names.length, skipped: 0 })}\n`,
    );
  });

  longTest("has its notes as JSON on stderr with --json", async () => {
    const world = await filled();
    const dashboard = `${world.mock.baseUrl}/_mock/products/01HN1H1W4PQ0DXQWPCCMJ7W5M8`;
    await fetch(dashboard, { method: "PUT", body: JSON.stringify({ name: "From the dashboard" }) });
    for (const line of ["products list --for-import --json", "products export - --json"]) {
      const { exit, stderr } = await world.cat(line);
      expect([exit, Object.keys(JSON.parse(stderr))]).toEqual([0, ["warning"]]);
    }
  });

  test.each([
    ["sheet", "cannot write sheet: its name has no format that an import reads"],
    ["sheet.pdf", "cannot write sheet.pdf: it is written as .csv, .xlsx or .ndjson, not .pdf"],
    ["sheet.csv --format xlsx", "cannot write sheet.csv: it is written as .xlsx, not .csv"],
    ["sheet.xlsx --excel", "--excel cannot be used with --format xlsx"],
    ["missing/sheet.csv", "cannot write missing/sheet.csv: its folder does not exist"],
  ])("is checked before any request: %s", async (typed, message) => {
    const world = await createWorld();
    const { exit, stderr } = await world.cat(`products export ${typed}`);
    expect({ exit, message: stderr.split("\n")[0] }).toEqual({ exit: 2, message: `error: ${message}` });
    expect(world.requests()).toEqual([]);
  });

  test("replaces a file only after a question, and stays as it was when the list fails", async () => {
    const world = await filled();
    world.write("sheet.csv", "mine");
    expect(await world.cat("products export sheet.csv")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: sheet.csv exists; nothing was written\nAdd --yes to replace it, or choose another file.\n",
    });
    const fault = JSON.stringify({ match: { path: "/v1/products" }, status: 403 });
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: fault });
    expect(await world.cat("products export sheet.csv --yes")).toMatchObject({ exit: 4 });
    expect(world.read("sheet.csv")).toBe("mine");
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    expect(await world.cat("products export sheet.csv --yes")).toMatchObject({ exit: 0 });
    expect(world.read("sheet.csv")).toMatch(/^reference,name,/);
  });
});

describe("the sheet of cat products list --for-import", () => {
  longTest.each([
    ["CSV", "products list --for-import", "sheet.csv"],
    ["NDJSON", "products list --for-import --json", "sheet.ndjson"],
  ])("imports back as %s without a change, here and without a ledger", async (_, command, file) => {
    const world = await filled();
    const before = world.products();
    const writes = writesOf(world);
    await save(world, command, file);
    for (const call of [{}, elsewhere(world)]) {
      expect(await world.cat(`import ${file} --no-progress`, call)).toMatchObject({
        exit: 0,
        stderr: expect.stringContaining(`Nothing to do: all ${names.length} rows of ${file} are unchanged.`),
      });
    }
    expect(writesOf(world)).toEqual(writes);
    expect(world.products()).toEqual(before);
  });

  test("after a change of one name sends one PATCH, and no photo", async () => {
    const world = await filled();
    const before = world.products();
    const writes = writesOf(world);
    await save(world, "products list --for-import", "sheet.csv");
    world.write("sheet.csv", world.read("sheet.csv").replace("R-0,Linen dress", "R-0,Silk dress"));
    expect(await world.cat("import sheet.csv --no-progress", elsewhere(world))).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(`1 updated, ${names.length - 1} unchanged`),
    });
    expect(writesOf(world).slice(writes.length)).toEqual(["PATCH /v1/products/"]);
    const [first, ...rest] = before;
    expect(world.products()).toEqual([
      { ...first, name: "Silk dress", updated_at: expect.any(String) },
      ...rest,
    ]);
  });

  test("has a column for each orientation, further photos of one in numbered columns, and others in images", async () => {
    const world = await createWorld();
    const images = ["front", "front", "back", "unlabeled", "unlabeled"].map((orientation, at) => ({
      url: `${cdn}/${at}.jpg`,
      ...(orientation !== "unlabeled" && { orientation }),
    }));
    world.write("a.ndjson", `${JSON.stringify({ reference: "A", name: "=Dress", sex: "kid", images })}\n`);
    await world.cat("import a.ndjson");
    const ids = world.products()[0]!.images.map(({ id }) => id);
    expect(withoutValues((await world.cat("products list --for-import")).stdout)).toBe(
      "reference,name,description,sex,image_front,image_back,image_1,image_1_orientation,images,as_exported\n" +
        `A,'=Dress,,kid,${ids[0]},${ids[2]},${ids[1]},front,${ids[3]}|${ids[4]},cat2_\n`,
    );
    expect((await world.cat("products list --for-import --q coat")).stdout).toBe(
      "reference,name,description,sex,images,as_exported\n",
    );
  });

  test("has all products, or --limit of them, and rejects formats and flags that no import reads", async () => {
    const world = await createWorld({ mock: { demo: 60, rateLimit: false } });
    const lines = async (line: string) => (await world.cat(line)).stdout.trimEnd().split("\n").length - 1;
    expect(await lines("products list --for-import")).toBe(60);
    expect(await world.cat("products list --for-import --limit 2")).toMatchObject({
      exit: 0,
      stderr: "The service has more products. For all of them, remove --limit.\n",
    });
    for (const flag of ["--format table", "--format json", "--fields name", "--no-formula-guard"])
      expect(await world.cat(`products list --for-import ${flag}`)).toMatchObject({ exit: 2, stdout: "" });
  });

  test("skips products that an import cannot change, and photos above 20, and says so", async () => {
    const world = await createWorld();
    const photos = Array.from({ length: 22 }, (_, at) => ({
      id: `01JGZZ00000000000000000${String(at).padStart(3, "0")}`,
      orientation: at === 0 ? "front" : "hanger",
      origin: "user",
    }));
    const [some, odd] = [photos.slice(0, 2), { description: undefined, sex: "divers" }];
    const data = [
      { reference: null, images: some },
      { reference: "LONG", name: "x".repeat(201), images: some },
      { reference: "BARE", images: null },
      { reference: "MANY", images: photos },
      { reference: "ODD", ...odd, images: some },
    ].map((fields, at) => product({ id: `01JGZZ0000000000000000P00${at}`, ...fields }));
    const server = await scriptedServer(json(200, { data, has_more: false, next_cursor: null }));
    onTestFinished(stopServers);
    const ran = await world.cat("products list --for-import", { env: { CAT_BASE_URL: server.origin } });
    const ids = photos.map(({ id }) => id);
    expect({ ...ran, stdout: withoutValues(ran.stdout) }).toEqual({
      exit: 0,
      stdout:
        "reference,name,description,sex,image_front,images,as_exported\n" +
        `MANY,Linen shirt,,female,${ids[0]},${ids.slice(1, 20).join("|")},cat2_\n` +
        `ODD,Linen shirt,,,${ids[0]},${ids[1]},cat2_\n`,
      stderr:
        "Skipped 1 product without a reference, which an import needs.\n" +
        "Skipped 2 products that an import would reject, for example LONG: name has 201 characters; at most 200 are allowed\n" +
        "1 product with over 20 photos: the row has the first 20. An import changes none of the others.\n",
    });
  });
});

describe("an image ID that the product has", () => {
  test("is not attached again as an unlabeled photo by a file of IDs alone", async () => {
    const world = await filled();
    const photosOf = () => world.products().map(({ images }) => images);
    const before = photosOf();
    await save(world, "products list --all --format csv --fields reference,name,sex,images", "ids.csv");
    for (const call of [{}, elsewhere(world)])
      expect(await world.cat("import ids.csv --no-progress", call)).toMatchObject({ exit: 0 });
    expect(photosOf()).toEqual(before);
  });

  longTest("is left out next to a new photo, which is sent", async () => {
    const world = await filled();
    const [product] = world.products();
    const { id } = product!.images[0]!;
    world.write("a.csv", `reference,name,images\nR-0,Linen dress,${id}|${cdn}/new.jpg\n`);
    expect(await world.cat("import a.csv --no-progress", elsewhere(world))).toMatchObject({ exit: 0 });
    expect(world.products()[0]!.images).toEqual([
      ...product!.images,
      { id: expect.any(String), orientation: "unlabeled", origin: "user" },
    ]);
  });

  longTest("is found in pages for many rows, and by a search and the newest ones for one row", async () => {
    const world = await createWorld({ mock: { demo: 320, rateLimit: false } });
    const before = world.products();
    await save(world, "products list --for-import", "sheet.csv");
    expect(await world.cat("import sheet.csv --no-progress")).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("all 320 rows of sheet.csv are unchanged."),
    });
    expect(world.products()).toEqual(before);
    const reads = world.requests().length;
    world.write("urls.csv", `reference,name,images\nNEW,Dress,${cdn}/1.jpg\n`);
    await world.cat("import urls.csv --no-progress --no-wait", elsewhere(world));
    expect(
      world
        .requests()
        .slice(reads)
        .flatMap(({ path }) => (path.includes("q=") || path.includes("limit=100") ? [path] : [])),
    ).toEqual(["/v1/products?limit=100&q=NEW", "/v1/products?limit=100"]);
  });

  test("keeps its orientation when cat products attach names it without one", async () => {
    const world = await filled();
    const { images } = world.products()[0]!;
    const { id } = images[0]!;
    await world.cat(`products attach R-0 ${id}`);
    expect(world.products()[0]!.images).toEqual(images);
    await world.cat(`products attach R-0 ${id}:side`);
    expect(world.products()[0]!.images[0]).toMatchObject({ id, orientation: "side" });
  });
});

test("a photo that a row names with and without an orientation has the orientation", async () => {
  const world = await filled();
  const { id } = world.products()[1]!.images[0]!;
  world.write(
    "a.csv",
    `reference,name,image_left,images\nR-0,Linen dress,${id},${id}\nNEW,Hat,${id},${id}\n`,
  );
  expect(await world.cat("import a.csv --no-progress", elsewhere(world))).toMatchObject({ exit: 0 });
  for (const { images } of world
    .products()
    .filter(({ reference }) => reference === "R-0" || reference === "NEW"))
    expect(images.find((one) => one.id === id)!.orientation).toBe("left");
});
