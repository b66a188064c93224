import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { cdn, mergeWorld, nothingDone, photo } from "./merge-world.ts";

const [down, enter] = ["\x1b[B", "\r"];
const header = "reference,name,description,image_front";

/** Three products of a plain sheet; another client changed the name of A and the description of B, and the sheet A's name. */
async function conflicting() {
  const world = await mergeWorld();
  for (const name of ["a", "b", "c"]) world.write(`${name}.png`, photo(name));
  world.sheet("a.csv", header, "A,Dress,silk,a.png", "B,Hat,felt,b.png", "C,Belt,,c.png");
  await world.all("import a.csv", "products update A --name Coat", "products update B --description wool");
  world.edit("a.csv", ["A,Dress", "A,Gown"], ["C,Belt", "C,Sash"]);
  return world;
}

const message =
  "name changed at the service and in the sheet: add --conflicts service to keep the service's, or --conflicts sheet";

longTest(
  "with --conflicts sheet, a photo of others is detached by the same command if the first one stopped before that",
  async () => {
    const world = await mergeWorld();
    for (const name of ["sheet", "theirs"]) world.write(`${name}.png`, photo(name));
    world.sheet("theirs.csv", "reference,name,image_front", "A,Dress,theirs.png", "B,Hat,theirs.png");
    await world.all("import theirs.csv");
    world.sheet(
      "a.csv",
      "reference,name,description,image_front",
      "A,Dress,silk,sheet.png",
      "B,Hat,felt,sheet.png",
    );
    await world.fault({ match: { method: "DELETE", path: "/v1/products" }, status: 500, times: 50 });
    const again = "a.csv --conflicts sheet";
    expect(await world.import(`${again} --same-organization`, "two")).toMatchObject([7, { submitted: 2 }]);
    expect(world.shown()).toEqual(["A Dress silk - front+front", "B Hat felt - front+front"]);
    await world.fault();
    // What others write between both commands stays.
    await world.all("products update A --description wool");
    const photos = { added: 0, replaced: 2, removed: 0 };
    expect(await world.import(again, "two")).toMatchObject([0, { updated: 2, unchanged: 0, photos }]);
    expect(world.shown()).toEqual(["A Dress wool - front", "B Hat felt - front"]);
    expect(await world.import(again, "two")).toMatchObject([0, { ...nothingDone, kept: 1, unchanged: 1 }]);
  },
);

describe("a cell that the sheet and the service changed", () => {
  test("leaves its row out, in the failed file, and the other rows are imported", async () => {
    const world = await conflicting();
    const ran = await world.cat("import a.csv --no-progress");
    expect(ran).toEqual({
      exit: 8,
      stdout: "",
      stderr: expect.stringMatching(/^Imported 2 of 3 rows from a\.csv in [\d.]+ s: 1 updated, 1 kept\.\n/),
    });
    expect(ran.stderr.split("\n").slice(1)).toEqual([
      "  1 product was changed at the service since; kept (B)",
      "  1 row skipped as a conflict",
      `    a.csv:2  A  ${message}`,
      expect.stringMatching(/^To undo it: cat imports undo run_\w+$/),
      "Conflicting rows are in a.failed.csv, with the reasons. Fix them there, then run:",
      "  cat import a.failed.csv",
      "A conflicting row stays one until its error_code is empty, or --conflicts is given.",
      "",
    ]);
    expect(world.read("a.failed.csv")).toBe(
      `${header},error_code,error_message\nA,Gown,silk,a.png,changed_since,"${message}"\n`,
    );
    expect(world.shown()).toEqual(["A Coat silk - front", "B Hat wool - front", "C Sash - - front"]);
  });

  test("is decided by --conflicts: theirs stay, and are not asked about again, or the sheet is written", async () => {
    for (const [choice, name, counts] of [
      ["service", "Coat", { updated: 1, kept: 2, conflicts: 0 }],
      ["sheet", "Gown", { updated: 2, kept: 1, conflicts: 0 }],
    ] as const) {
      const world = await conflicting();
      expect(await world.import(`a.csv --conflicts ${choice}`)).toMatchObject([
        0,
        { ...nothingDone, ...counts, submitted: counts.updated },
      ]);
      expect(world.shown()).toEqual([`A ${name} silk - front`, "B Hat wool - front", "C Sash - - front"]);
      const kept = choice === "service" ? 2 : 1;
      expect(await world.import("a.csv")).toMatchObject([0, { ...nothingDone, kept, unchanged: 3 - kept }]);
    }
  });

  longTest("is decided by no plan, whatever --conflicts says", async () => {
    const world = await conflicting();
    for (const choice of ["service", "sheet"])
      expect((await world.cat(`import a.csv --plan --conflicts ${choice} --no-progress`)).exit).toBe(0);
    expect(await world.import("a.csv")).toMatchObject([8, { conflicts: 1 }]);
  });

  longTest("is nothing if both have the same value", async () => {
    const world = await conflicting();
    world.edit("a.csv", ["A,Gown", "A,Coat"]);
    expect(await world.import("a.csv")).toMatchObject([
      0,
      { ...nothingDone, submitted: 1, updated: 1, unchanged: 1, kept: 1 },
    ]);
  });

  longTest(
    "stays a conflict in the failed file until its error_code is empty or --conflicts is given",
    async () => {
      const world = await conflicting();
      await world.cat("import a.csv");
      for (let times = 0; times < 2; times++) {
        const ran = await world.cat("import a.failed.csv --no-progress");
        expect(ran).toMatchObject({
          exit: 8,
          stderr: expect.stringContaining(
            "    a.failed.csv:2  A  this row was skipped as a conflict: empty its error_code, or add --conflicts service or --conflicts sheet\n",
          ),
        });
      }
      expect(world.shown()[0]).toBe("A Coat silk - front");
      const failed = world.read("a.failed.csv");
      expect(await world.import("a.failed.csv --conflicts service")).toMatchObject([
        0,
        { conflicts: 0, updated: 0 },
      ]);
      expect(world.shown()[0]).toBe("A Coat silk - front");
      world.write("by-hand.csv", failed.replace("changed_since", ""));
      expect(await world.import("by-hand.csv")).toMatchObject([0, { conflicts: 0, updated: 1 }]);
      expect(world.shown()[0]).toBe("A Gown silk - front");
    },
  );

  test.each(
    sampled(
      [
        ["service", [down, enter], "A Coat silk - front", 0],
        ["sheet", [down, down, enter], "A Gown silk - front", 0],
        ["stop", [enter], "A Coat silk - front", 2],
      ],
      1,
    ),
  )("is asked about once on a terminal: %s", async (_, keys, product, exit) => {
    const world = await conflicting();
    const sent = world.writes().length;
    const terminal = atTerminal(world, "import a.csv --no-progress");
    await terminal.shows("1 conflict:\n  a.csv:2  A  changed_since\n");
    await terminal.type("The sheet and the service have both changed. Whose values count?", ...keys);
    expect(await terminal.ran).toMatchObject({ exit });
    expect(world.shown()[0]).toBe(product);
    if (exit === 2) expect(world.writes(sent)).toEqual([]);
  });

  test("is not asked about with --no-input", async () => {
    const world = await conflicting();
    expect(await world.cat("import a.csv --no-progress --no-input", { tty: true })).toMatchObject({
      exit: 8,
    });
  });
});

describe("a product to which another client gave another reference", () => {
  const header = "reference,name,image_front";
  /** A is AA since; a sheet as machine `one` imported it, and one as it was exported for machine `two`. */
  async function renamed(...others: string[]) {
    const world = await mergeWorld();
    for (const name of ["a", "b"]) world.write(`${name}.png`, photo(name));
    world.sheet("one.csv", header, "A,Dress,a.png", ...others);
    await world.import("one.csv", "one");
    expect((await world.cat("products export two.csv --quiet", world.home("one"))).exit).toBe(0);
    expect((await world.cat("products update A --reference AA --quiet", world.home("two"))).exit).toBe(0);
    return { world, sent: world.writes().length };
  }

  test.each(sampled(["one", "two"], 1))(
    "is not created again by an unedited row of machine %s",
    async (machine) => {
      const { world, sent } = await renamed("B,Hat,b.png");
      expect(await world.cat(`import ${machine}.csv --no-progress`, world.home(machine))).toEqual({
        exit: 0,
        stdout: "",
        stderr: `Nothing to do: both rows of ${machine}.csv are not edited.\n  1 product was changed at the service since; kept (A)\n`,
      });
      expect(world.writes(sent)).toEqual([]);
    },
  );

  test.each(sampled(["one", "two"], 1))(
    "is a conflict for an edited row of machine %s, and with --exact",
    async (machine) => {
      const { world, sent } = await renamed();
      const conflict = {
        exit: 8,
        stderr: expect.stringContaining(
          "the product has the reference AA since: write that in the row, or run cat products update AA --reference A\n",
        ),
      };
      const line = `import ${machine}.csv --no-progress`;
      expect(await world.cat(`${line} --exact`, world.home(machine))).toMatchObject(conflict);
      world.edit(`${machine}.csv`, ["Dress", "Gown"]);
      expect(await world.cat(line, world.home(machine))).toMatchObject(conflict);
      expect(world.writes(sent)).toEqual([]);
      expect((await world.cat("products update AA --reference A --quiet", world.home("two"))).exit).toBe(0);
      expect((await world.cat(line, world.home(machine))).exit).toBe(0);
      expect(world.shown()).toEqual(["A Gown - - front"]);
    },
  );
});

describe("a product that another client deleted", () => {
  /** A is deleted; B and C are as they were. */
  async function deleted() {
    const world = await mergeWorld();
    for (const name of ["a", "b"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", header, "A,Dress,silk,a.png", "B,Hat,felt,b.png");
    await world.all("import a.csv", "products export sheet.csv", "products delete A --yes");
    return world;
  }

  test.each(sampled(["a.csv", "sheet.csv"], 1))(
    "is not created again by a row that was not edited: %s",
    async (file) => {
      const world = await deleted();
      const sent = world.writes().length;
      expect(await world.cat(`import ${file} --no-progress`)).toEqual({
        exit: 0,
        stdout: "",
        stderr: `Nothing to do: both rows of ${file} are not edited.
  1 product was deleted at the service since (A); to create it again, add --exact
`,
      });
      expect(world.writes(sent)).toEqual([]);
    },
  );

  test.each(sampled(["a.csv", "sheet.csv"], 1))("is a conflict if its row was edited: %s", async (file) => {
    const world = await deleted();
    world.edit(file, ["Dress", "Gown"]);
    const sent = world.writes().length;
    expect(await world.cat(`import ${file} --no-progress`)).toMatchObject({
      exit: 8,
      stderr: expect.stringMatching(
        new RegExp(
          `\\n {4}${file}:\\d {2}A {2}the product was deleted since: use --exact to create it again\\n`,
        ),
      ),
    });
    expect(world.writes(sent)).toEqual([]);
    expect(world.read(file.replace(".csv", ".failed.csv"))).toContain("product_deleted");
    const kept = { deleted: 1, conflicts: 0, unchanged: 1 };
    expect(await world.import(`${file} --conflicts service`)).toMatchObject([0, kept]);
    // What the sheet says is its new before.
    expect(await world.import(file)).toMatchObject([0, kept]);
    expect(await world.import(`${file} --exact`)).toMatchObject([0, { created: 1, unchanged: 1 }]);
    expect(world.shown()).toEqual(["B Hat felt - front", "A Gown silk - front"]);
  });

  test("is created again, with a note, if every product of the file is gone", async () => {
    const world = await deleted();
    await world.all("products delete B --yes");
    expect(await world.cat("import a.csv --no-progress")).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^All 2 products of this file that were known are gone: importing into another catalogue, as for the first time\.\nImported 2 rows .*: 2 created\.\n$/,
      ),
    });
    expect(world.shown()).toEqual(["A Dress silk - front", "B Hat felt - front"]);
  });
});

longTest(
  "a product that others deleted is not created again by a run that goes on after it has sent the other rows",
  async () => {
    const world = await mergeWorld();
    for (const name of ["a", "b", "c"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", header, "A,Dress,silk,a.png", "B,Hat,felt,b.png");
    await world.all("import a.csv", "products delete B --yes");
    world.edit("a.csv", ["a.png", "c.png"]);
    await world.all("import a.csv --no-wait");
    expect(await world.import("a.csv")).toMatchObject([0, { updated: 1, created: 0, deleted: 1 }]);
    expect(world.shown()).toEqual(["A Dress silk - front"]);
  },
);

describe("a row is left out", () => {
  longTest("if an exported row has another reference: the command that changes it is named", async () => {
    const world = await mergeWorld();
    world.write("a.png", photo("a"));
    world.sheet("a.csv", header, "A,Dress,silk,a.png");
    await world.all("import a.csv", "products export sheet.csv");
    world.edit("sheet.csv", ["\nA,", "\nA;NEW,"]);
    for (const machine of ["home", "two"])
      expect(await world.cat("import sheet.csv --no-progress", world.home(machine))).toMatchObject({
        exit: 8,
        stderr: expect.stringContaining(
          "    sheet.csv:2  A;NEW  the row was exported as A: to change its reference, run cat products update A --reference 'A;NEW'\n",
        ),
      });
    await world.all("products update A --reference A;NEW");
    expect(await world.import("sheet.csv")).toMatchObject([0, { conflicts: 0, unchanged: 1 }]);
  });

  test("if it would remove the last photo of its product", async () => {
    const world = await mergeWorld();
    world.write("a.png", photo("a"));
    world.sheet("a.csv", header, "A,Dress,silk,a.png");
    await world.all("import a.csv", "products export sheet.csv");
    const [image] = world.images("A");
    world.edit("sheet.csv", [image!, ""]);
    const [exit, summary] = await world.import("sheet.csv");
    expect([exit, summary]).toMatchObject([8, { ...nothingDone, conflicts: 1 }]);
    expect(world.read("sheet.failed.csv")).toContain("last_photo,");
    expect(world.images("A")).toEqual([image]);
  });

  test("if it has no photo, and no product has its reference; others change fields", async () => {
    const world = await mergeWorld();
    world.sheet("a.csv", "reference,name,images", `A,Dress,${cdn}/a.jpg`);
    await world.all("import a.csv");
    world.sheet("names.csv", "reference,name", "A,Gown", "B,Hat");
    const stderr =
      "error: 1 row of names.csv has no photo, and no product with its reference exists (line 3); nothing was sent\n" +
      "Add photos to these rows, correct their references, or add --skip-invalid to import the others.\n";
    expect(await world.cat("import names.csv --plan plan.ndjson --no-progress")).toEqual({
      exit: 3,
      stdout: expect.stringMatching(/^3 {5}B {10}conflict {2}no_images: /m),
      stderr: `Plan: 1 to change (1 name), 1 conflict; 1 request, about 1 min.\n${stderr}`,
    });
    expect(await world.cat("import names.csv --no-progress")).toEqual({ exit: 3, stdout: "", stderr });
    expect(await world.cat("import names.csv --plan plan.ndjson --skip-invalid")).toMatchObject({ exit: 8 });
    expect(await world.import("names.csv --skip-invalid")).toMatchObject([8, { updated: 1, conflicts: 1 }]);
    expect(world.shown()).toEqual(["A Gown - - unlabeled"]);
  });
});

describe("an image ID of a side that a photo of others has", () => {
  /** A plain sheet names the photo that was replaced since. */
  async function replacedSince() {
    const world = await mergeWorld();
    for (const name of ["1", "2", "3"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", "reference,name,image_front,image_back", "A,Dress,1.png,2.png");
    await world.all("import a.csv");
    const [old, back] = world.images("A");
    world.sheet("ids.csv", "reference,name,image_front,image_back", `A,Dress,${old},${back}`);
    world.edit("a.csv", ["1.png", "3.png"]);
    await world.all("import a.csv");
    const theirs = world.images("A").find((id) => id !== back)!;
    return { world, old, back, theirs };
  }

  test("is a conflict, each time", async () => {
    const { world, old, back, theirs } = await replacedSince();
    for (const _ of [1, 2])
      expect(await world.import("ids.csv", "two")).toMatchObject([8, { conflicts: 1, submitted: 0 }]);
    expect(world.read("ids.failed.csv")).toContain(
      `,photo_exists,"the product has another front photo (${theirs}) than ${old}: `,
    );
    expect(new Set(world.images("A"))).toEqual(new Set([back, theirs]));
  });

  test.each(["service", "sheet"])("is decided by --conflicts %s", async (choice) => {
    const { world, old, back, theirs } = await replacedSince();
    const replaced = choice === "sheet" ? 1 : 0;
    expect(await world.import(`ids.csv --conflicts ${choice}`, "two")).toMatchObject([
      0,
      { kept: 1 - replaced, updated: replaced, photos: { added: 0, replaced } },
    ]);
    expect(new Set(world.images("A"))).toEqual(new Set([back, choice === "sheet" ? old : theirs]));
    expect(await world.import("ids.csv", "two")).toMatchObject([0, { kept: 1 - replaced, submitted: 0 }]);
  });
});

test("the command that changes a reference that starts with - works as it is printed", async () => {
  const world = await mergeWorld();
  world.write("1.png", photo("1"));
  world.sheet("a.csv", "reference,name,image_1", "-C,Dress,1.png");
  await world.all("import a.csv", "products export e.csv");
  world.write("e.csv", world.read("e.csv").replace(/^[^,\n]*-C"?,/m, "D,"));
  const { exit, stderr } = await world.cat("import e.csv");
  const [, command] = /run cat (products update .*)$/m.exec(stderr)!;
  expect([exit, command]).toEqual([8, "products update --reference D -- -C"]);
  await world.all(command!);
  expect(world.shown()).toEqual(["D Dress - - unlabeled"]);
});

test("a file whose only known product has another reference now is not taken for one of another catalogue", async () => {
  const world = await mergeWorld();
  world.write("1.png", photo("1"));
  world.sheet("a.csv", "reference,name,image_1", "A,Dress,1.png");
  await world.all("import a.csv", "products update A --reference A9");
  for (const _ of [1, 2])
    expect(await world.cat("import a.csv")).toMatchObject({
      exit: 0,
      stderr:
        "Nothing to do: the row of a.csv is not edited.\n  1 product was changed at the service since; kept (A)\n",
    });
  world.edit("a.csv", ["Dress", "Gown"]);
  for (const flags of ["", " --exact"]) {
    const { exit, stderr } = await world.cat(`import a.csv${flags}`);
    expect([exit, stderr]).toEqual([
      8,
      expect.stringMatching(
        /^Imported 0 of 1 row .*\n {2}1 row skipped as a conflict\n.* has the reference A9 since/,
      ),
    ]);
  }
  expect(world.shown()).toEqual(["A9 Dress - - unlabeled"]);
});
