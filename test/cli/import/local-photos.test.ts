import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tinyPng } from "../../mock/world.ts";
import { createWorld } from "../../support/world.ts";

const head = "reference,name,images\n";

test("a dry run checks photos relative to the file, from any folder", async () => {
  const world = await createWorld();
  world.write("lists/rows.csv", `${head}A,Dress,photos/a.png\nB,Dress,photos/A.PNG|photos\n`);
  world.write("lists/photos/a.png", tinyPng);
  const ran = await world.cat("import lists/rows.csv --dry-run");
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain(
    `lists/rows.csv:3  images  photo_not_found  "photos/A.PNG" is not a URL, an image ID or an existing file (${world.folder}/lists/photos/A.PNG does not exist; did you mean "a.png"?)\n` +
      'lists/rows.csv:3  images  not_an_image  "photos" is a folder, not a file\n',
  );
  expect(world.requests()).toEqual([]);
  world.write("lists/rows.csv", `${head}A,Dress,photos/a.png\n`);
  expect(await world.cat("import lists/rows.csv --dry-run")).toMatchObject({ exit: 0 });
});

test("photos are relative to --images-root, and cannot be outside of it", async () => {
  const world = await createWorld();
  world.write("lists/rows.csv", `${head}A,Dress,../photos/a.png\n`);
  world.write("photos/a.png", tinyPng);
  const refused = await world.cat("import lists/rows.csv --dry-run --json");
  expect(JSON.parse(refused.stdout).problems).toEqual([
    {
      line: 2,
      reference: "A",
      param: "images",
      code: "photo_outside_root",
      message: `"../photos/a.png" leads outside the folder of the file (${world.folder}/lists): move the photo there, or add --images-outside`,
    },
  ]);
  expect(await world.cat("import lists/rows.csv --dry-run --images-outside")).toMatchObject({ exit: 0 });
  world.write("lists/rows.csv", `${head}A,Dress,photos/a.png\n`);
  expect(await world.cat("import lists/rows.csv --dry-run --images-root .")).toMatchObject({ exit: 0 });
  const gone = await world.cat("import lists/rows.csv --dry-run --images-root nowhere");
  expect([gone.exit, gone.stderr]).toEqual([
    2,
    expect.stringContaining("--images-root nowhere does not exist"),
  ]);
});

test("photos of piped rows are relative to the current folder", async () => {
  const world = await createWorld();
  world.write("a.png", tinyPng);
  symlinkSync("/etc/hostname", join(world.folder, "b.png"));
  const stdin = `${JSON.stringify({ reference: "A", name: "B", images: [{ path: "a.png" }] })}\n`;
  expect(await world.cat("import - --format ndjson --dry-run", { stdin })).toMatchObject({ exit: 0 });
  const ran = await world.cat("import - --format ndjson --dry-run", {
    stdin: stdin.replace("a.png", "b.png"),
  });
  expect([ran.exit, ran.stderr]).toEqual([
    3,
    expect.stringContaining(
      `stdin:1  images[0].path  photo_outside_root  images[0].path: "b.png" (through a link) leads outside the current folder (${world.folder}): move the photo there, or add --images-outside\n`,
    ),
  ]);
});

test("a photo with two orientations in one row is a problem; with one, it is accepted", async () => {
  const world = await createWorld();
  world.write("a.png", tinyPng);
  const url = "https://cdn.example.com/a.jpg";
  world.write(
    "rows.csv",
    `reference,name,image_front,image_back\nA,Dress,a.png,a.png\nB,Dress,${url},${url}\nC,Dress,a.png,${url}\n`,
  );
  const ran = await world.cat("import rows.csv");
  const lines = ran.stderr.split("\n").filter((line) => line.includes("duplicate_image"));
  expect([ran.exit, lines, world.requests()]).toEqual([
    3,
    [
      'rows.csv:2  image_back  duplicate_image  "a.png" is already the front photo of this row: a product has each photo once',
    ],
    [],
  ]);
  const row = (...orientations: string[]) =>
    `${JSON.stringify({ reference: "A", name: "B", images: orientations.map((orientation) => ({ path: "a.png", orientation })) })}\n`;
  world.write("two.ndjson", row("left", "left", "right"));
  expect((await world.cat("import two.ndjson")).stderr).toContain(
    'two.ndjson:1  images[2].path  duplicate_image  images[2].path: "a.png" is already the left photo of this row: a product has each photo once\n',
  );
  world.write("one.ndjson", row("left", "left"));
  expect(await world.cat("import one.ndjson")).toMatchObject({ exit: 0 });
});
