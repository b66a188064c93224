import sharp from "sharp";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const head = "reference,name,images\n";
const row = (reference: string) => `${reference},Dress,${photo(reference)}\n`;
const all = ["A", "B", "C", "D", "E"];

async function limitWorld() {
  const world = await createWorld();
  world.write("a.csv", head + all.map(row).join(""));
  const fault = (order: object) =>
    fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
  const references = () => world.products().map(({ reference }) => reference);
  const photos = () => world.products().map(({ images }) => images.length);
  return { ...world, fault, references, photos };
}

const steady = (text: string) => text.replace(/ in [\d.]+ s/g, " in 1 s").replace(/at \S+:/g, "at TIME:");

test("imports the first rows, then the others with the same command", async () => {
  const { cat, references, photos } = await limitWorld();
  const first = await cat("import a.csv --limit 2");
  expect(first).toMatchObject({ exit: 0, stdout: "" });
  expect(steady(first.stderr)).toBe(
    [
      "Imported 2 rows from a.csv in 1 s: 2 created.",
      "  3 rows left (--limit)",
      "To import the other rows, run (nothing is sent twice):",
      "  cat import a.csv\n",
    ].join("\n"),
  );
  expect(references()).toEqual(["A", "B"]);
  const { left, total, created } = JSON.parse((await cat("import a.csv --limit=4 --json")).stdout);
  expect({ left, total, created }).toEqual({ left: 1, total: 4, created: 4 });
  const rest = await cat("import a.csv");
  expect(rest.exit).toBe(0);
  expect(steady(rest.stderr)).toBe(
    [
      "Resuming the import of a.csv started at TIME: 4 rows already sent. To start over, add --fresh.",
      "Imported 5 rows from a.csv in 1 s: 5 created.\n",
    ].join("\n"),
  );
  expect(references()).toEqual(all);
  expect(photos()).toEqual([1, 1, 1, 1, 1]);
  expect((await cat("import a.csv")).stderr).toContain("Nothing to do: all 5 rows of a.csv are unchanged.");
});

test.each(sampled(["--mode create", "--mode skip_existing", "--photos all"], 1))(
  "cat import --limit sends nothing twice with %s",
  async (flags) => {
    const { cat, references, photos } = await limitWorld();
    for (const limit of ["--limit 1", "--limit 1", "--limit 3", ""])
      expect((await cat(`import a.csv ${flags} ${limit}`)).exit).toBe(0);
    expect(references()).toEqual(all);
    expect(photos()).toEqual([1, 1, 1, 1, 1]);
  },
);

longTest("checks only the first rows", async () => {
  const { cat, write, references } = await limitWorld();
  write("b.csv", `${head}${row("A")}${row("B")},Dress,x\n${row("A")}`);
  const dry = await cat("import b.csv --limit 2 --dry-run --json");
  expect(dry.exit).toBe(0);
  expect(JSON.parse(dry.stdout)).toEqual({
    file: "b.csv",
    problems: [],
    total: 2,
    valid: 2,
    invalid: 0,
    left: 2,
  });
  expect((await cat("import b.csv --limit 2 --dry-run")).stderr).toBe(
    "b.csv: 2 rows, all valid. 2 rows left (--limit). Nothing was sent (--dry-run).\n",
  );
  expect((await cat("import b.csv --limit 2")).exit).toBe(0);
  expect((await cat("import b.csv --limit 3")).stderr).toContain("b.csv has 1 invalid row out of 3");
  const rest = await cat("import b.csv");
  expect(rest.exit).toBe(3);
  expect(rest.stderr).toContain('b.csv:5  reference  duplicate_reference_in_file  duplicate reference "A"');
  expect(references()).toEqual(["A", "B"]);
});

test("cat import --limit writes only the first rows to the failed file, which the last command writes completely", async () => {
  const { cat, write, read } = await limitWorld();
  write("b.csv", `${head}${row("fail-timeout")},Dress,x\n${row("B")}${row("C-fail-timeout")}`);
  const first = await cat("import b.csv --limit 3 --skip-invalid");
  expect(first.exit).toBe(8);
  expect(first.stderr).toContain(
    [
      "Failed and invalid rows are in b.failed.csv, with the reasons.",
      "To import the other rows, run (nothing is sent twice):",
      "  cat import b.csv --skip-invalid\n",
    ].join("\n"),
  );
  expect(read("b.failed.csv").split("\n")).toHaveLength(4);
  await cat("import b.csv --skip-invalid");
  expect(read("b.failed.csv").split("\n")).toHaveLength(4);
  expect(read("b.failed.1.csv").split("\n")).toHaveLength(4);
});

test("a changed photo of a row that was sent is sent with the rest", async () => {
  const { cat, write, photos } = await limitWorld();
  const jpeg = (red: number) =>
    sharp({ create: { width: 9, height: 9, channels: 3, background: { r: red, g: 0, b: 0 } } })
      .jpeg()
      .toBuffer();
  write("1.jpg", await jpeg(10));
  write("2.jpg", await jpeg(20));
  write("b.csv", `${head}A,Dress,1.jpg\nB,Dress,2.jpg\n`);
  expect((await cat("import b.csv --limit 1")).exit).toBe(0);
  write("1.jpg", await jpeg(30));
  expect((await cat("import b.csv")).exit).toBe(0);
  expect(photos()).toEqual([2, 1]);
});

longTest("photos of the other rows are not converted", async () => {
  const { cat, write, photos } = await limitWorld();
  const tiff = (red: number) =>
    sharp({ create: { width: 9, height: 9, channels: 3, background: { r: red, g: 0, b: 0 } } })
      .tiff()
      .toBuffer();
  write("1.tif", await tiff(10));
  write("2.tif", await tiff(20));
  write("b.csv", `${head}A,Dress,1.tif\nB,Dress,2.tif\n`);
  const first = await cat("import b.csv --limit 1 --convert --mode skip_existing --json");
  expect(JSON.parse(first.stdout)).toMatchObject({ converted: 1, left: 1 });
  const rest = await cat("import b.csv --convert --mode skip_existing");
  expect(rest.stderr).toContain("1 row already sent");
  expect(photos()).toEqual([1, 1]);
});

test("cat import --limit rejects a limit below what was sent, unless it starts over", async () => {
  const { cat, fault, references } = await limitWorld();
  await fault({ match: { method: "GET", path: "/v1/imports" }, times: 1, status: 403 });
  expect((await cat("import a.csv --limit 4")).exit).toBe(4);
  const ran = await cat("import a.csv --limit 3");
  expect(ran).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: rows after the first 3 rows of a.csv were already sent\nRemove --limit, or use a higher one.\n",
  });
  expect((await cat("import a.csv --limit 3 --fresh")).exit).toBe(0);
  expect((await cat("import a.csv --limit 4")).exit).toBe(0);
  expect((await cat("import a.csv")).exit).toBe(0);
  expect(references()).toEqual(all);
});

test("a limit of all rows is none", async () => {
  const { cat } = await limitWorld();
  const { left, total } = JSON.parse((await cat("import a.csv --limit 9 --json")).stdout);
  expect({ left, total }).toEqual({ left: 0, total: 5 });
});

test("rows are left after a complete import with --exact, which others may have changed since", async () => {
  const { cat, products } = await limitWorld();
  expect((await cat("import a.csv --exact")).exit).toBe(0);
  for (const reference of all) await cat(`products update ${reference} --name Coat`);
  const names = () => products().map(({ name }) => name);
  const first = await cat("import a.csv --exact --limit 2");
  expect(steady(first.stderr)).toMatch(
    /^Imported 2 rows from a\.csv in 1 s: 2 updated\.\n {2}3 rows left \(--limit\)\n(?:.*\n)*To import the other rows, run \(nothing is sent twice\):\n {2}cat import a\.csv --exact\n/,
  );
  expect(names()).toEqual(["Dress", "Dress", "Coat", "Coat", "Coat"]);
  expect(JSON.parse((await cat("import a.csv --exact --limit 2 --json")).stdout).left).toBe(3);
  expect((await cat("import a.csv --exact")).exit).toBe(0);
  expect(names()).toEqual(["Dress", "Dress", "Dress", "Dress", "Dress"]);
});

longTest("no row is left after a complete import, unless the others would be sent again", async () => {
  const { cat, references } = await limitWorld();
  await cat("import a.csv --limit 2");
  const fresh = JSON.parse((await cat("import a.csv --limit 2 --fresh --json")).stdout);
  expect(fresh.left).toBe(3);
  await cat("import a.csv");
  for (const _ of ["ended", "ended again"])
    expect((await cat("import a.csv --limit 2")).stderr).toBe(
      "Nothing to do: both rows of a.csv are unchanged.\n",
    );
  expect(references()).toEqual(all);
  const left = async () => JSON.parse((await cat("import a.csv --photos all --limit 1 --json")).stdout).left;
  expect(await left()).toBe(4);
  await cat("import a.csv --photos all");
  expect(await left()).toBe(4);
});

test.each([
  ["import a.csv --limit 0", "use a whole number"],
  ["import a.csv --limit 1.5", "use a whole number"],
  ["import a.csv b.csv --limit 1", "--limit cannot be used with several files"],
  ["tryon --rerun a.csv --limit 1", "--limit cannot be used with --rerun"],
  ["tryon --product A --limit 1", "--limit needs a file"],
])("%s exits with 2", async (line, message) => {
  const { cat, write } = await limitWorld();
  write("b.csv", head + row("X"));
  const ran = await cat(line);
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toContain(message);
});
