import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const head = "reference,name,images\n";
const row = (reference: string, image = reference) => `${reference},Dress,${photo(image)}\n`;

async function severalWorld() {
  const world = await createWorld();
  world.write("a.csv", `${head}${row("A1")}${row("A2")}`);
  world.write(
    "b.xlsx",
    workbookOf({
      Sheet1: [
        ["reference", "name", "images"],
        ["B1", "Rock", photo("B1")],
      ],
    }),
  );
  world.write("c.csv.gz", gzipSync(`${head}${row("C1")}`));
  const fault = (order: object) =>
    fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
  const references = () => world.products().map(({ reference }) => reference);
  const photos = () => world.products().map(({ images }) => images.length);
  return { ...world, fault, references, photos };
}

const all = "import a.csv b.xlsx c.csv.gz";

test("imports several files with one summary", async () => {
  const { cat, references, photos } = await severalWorld();
  const ran = await cat(all);
  expect(ran).toMatchObject({ exit: 0, stdout: "" });
  expect(ran.stderr.replace(/ in [\d.]+ s/g, " in 1 s")).toBe(
    [
      "validating rows: 1",
      "Imported 4 rows from 3 files in 1 s: 4 created.",
      "Imported 2 rows from a.csv in 1 s: 2 created.",
      "Imported 1 row from b.xlsx in 1 s: 1 created.",
      "Imported 1 row from c.csv.gz in 1 s: 1 created.\n",
    ].join("\n"),
  );
  const again = await cat(all);
  expect(again.exit).toBe(0);
  expect(again.stderr).toMatch(/^Nothing to do: all 4 rows of 3 files are unchanged\.\n/);
  expect(references()).toEqual(["A1", "A2", "B1", "C1"]);
  expect(photos()).toEqual([1, 1, 1, 1]);
});

longTest("cat import of several files prints the sums and the summary of each file with --json", async () => {
  const { cat } = await severalWorld();
  const { stdout, exit } = await cat(`${all} --json`);
  expect(exit).toBe(0);
  const { files, duration_ms: _, ...totals } = JSON.parse(stdout);
  const sums = { total: 4, invalid: 0, submitted: 4, succeeded: 4, partial: 0, failed: 0 };
  expect(totals).toEqual({
    ...{ ...sums, created: 4, updated: 0, skipped: 0, unchanged: 0, kept: 0, conflicts: 0, deleted: 0 },
    photos: { added: 4, replaced: 0, removed: 0, moved: 0, adopted: 0 },
    not_applied: { emptied: 0, removed: 0 },
    known_failures: 0,
  });
  expect(files.map(({ file, total }: { file: string; total: number }) => [file, total])).toEqual([
    ["a.csv", 2],
    ["b.xlsx", 1],
    ["c.csv.gz", 1],
  ]);
  expect(new Set(files.map(({ run_id }: { run_id: string }) => run_id)).size).toBe(3);
  const single = await severalWorld();
  expect(Object.keys(files[0])).toEqual(
    Object.keys(JSON.parse((await single.cat("import a.csv --json")).stdout)),
  );
});

test("cat import of several files reports a reference in two files with both places, and sends nothing", async () => {
  const { cat, write, products } = await severalWorld();
  write("d.csv", `${head}${row("D1")}${row("A2", "other")}${row("D1")}`);
  const ran = await cat("import a.csv d.csv");
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toBe(
    [
      'd.csv:3  reference  duplicate_reference_in_file  duplicate reference "A2", first used on line 3 of a.csv',
      'd.csv:4  reference  duplicate_reference_in_file  duplicate reference "D1", first used on line 2',
      "2 rows are of 1 product, such as one row per photo or size. Import the rows of each as one product with --merge-rows.",
      "error: d.csv has 2 invalid rows out of 3; nothing was sent",
      "To import the rows of each reference as one product, add --merge-rows. Otherwise, fix the file and run the command again, or add --skip-invalid to import the valid rows.\n",
    ].join("\n"),
  );
  expect(products()).toEqual([]);
});

longTest(
  "cat import of several files skips a reference of another file with --skip-invalid, also after a change of the order",
  async () => {
    const { cat, write, read, products, fault } = await severalWorld();
    write("d.csv", `${head}${row("D1")}${row("A2", "other")}`);
    await fault({ match: { method: "GET", path: "/v1/imports" }, times: 1, status: 403 });
    await cat("import d.csv a.csv --skip-invalid");
    const ran = await cat("import a.csv d.csv --skip-invalid");
    expect(ran.exit).toBe(8);
    expect(read("d.failed.csv")).toContain("A2,Dress");
    // Each photo of both files at most once.
    expect(products().map(({ reference, images }) => [reference, images.length])).toEqual([
      ["D1", 1],
      ["A2", 2],
      ["A1", 1],
    ]);
  },
);

test("cat import of several files sends nothing if a later file has problems, and lists those of all files", async () => {
  const { cat, write, products } = await severalWorld();
  write("bad.csv", `${head},Dress,${photo("x")}\n`);
  write("worse.csv", "reference,images\nE1,x\n");
  const ran = await cat("import a.csv bad.csv worse.csv");
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain("bad.csv:2  reference");
  expect(ran.stderr).toContain("worse.csv:1  name  missing_column");
  expect(ran.stderr).toContain(
    "error: cannot import bad.csv and worse.csv; nothing was sent\nFix the files and run the command again.\n",
  );
  expect((await cat("import a.csv bad.csv")).stderr).toContain("error: bad.csv has 1 invalid row out of 1;");
  expect(products()).toEqual([]);
  const json = await cat("import a.csv bad.csv worse.csv --json --skip-invalid");
  const { files, ...totals } = JSON.parse(json.stdout);
  expect(totals).toMatchObject({ total: 4, valid: 2, invalid: 2, submitted: 0, created: 0 });
  expect(files[1]).toMatchObject({
    run_id: null,
    mode: "upsert",
    submitted: 0,
    imports: [],
    failed_file: null,
  });
  expect(files.map(({ file, invalid }: { file: string; invalid: number }) => [file, invalid])).toEqual([
    ["a.csv", 0],
    ["bad.csv", 1],
    ["worse.csv", 1],
  ]);
});

test("checks several files with --dry-run", async () => {
  const { cat, products } = await severalWorld();
  const ran = await cat(`${all} --dry-run`);
  expect(ran).toMatchObject({ exit: 0, stdout: "" });
  expect(ran.stderr).toBe("a.csv, b.xlsx, c.csv.gz: 4 rows, all valid. Nothing was sent (--dry-run).\n");
  const { stdout } = await cat(`${all} --dry-run --json`);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(stdout)).toEqual({
    files: [
      { file: "a.csv", problems: [], total: 2, valid: 2, invalid: 0 },
      { file: "b.xlsx", problems: [], total: 1, valid: 1, invalid: 0 },
      { file: "c.csv.gz", problems: [], total: 1, valid: 1, invalid: 0 },
    ],
    total: 4,
    valid: 4,
    invalid: 0,
  });
  expect(products()).toEqual([]);
});

longTest(
  "cat import of several files stops before the next file, and resumes with the same command",
  async () => {
    const { cat, write, references, photos, fault } = await severalWorld();
    write("b.csv", `${head}${row("B1")}`);
    await fault({ match: { method: "POST", path: "/v1/imports" }, times: 1, status: 402 });
    const ran = await cat("import b.csv c.csv.gz --json");
    expect(ran.exit).toBe(4);
    const { files, total, not_started } = JSON.parse(ran.stdout);
    expect({ files: files.length, total, not_started }).toEqual({
      files: 1,
      total: 2,
      not_started: ["c.csv.gz"],
    });
    await cat("import a.csv");
    await fault({ match: { method: "POST", path: "/v1/imports" }, times: 1, status: 402 });
    const stopped = await cat("import a.csv b.csv c.csv.gz --fresh");
    expect(stopped.exit).toBe(4);
    expect(stopped.stderr.replace(/ in [\d.]+ s/g, " in 1 s")).toContain(
      [
        "Stopped: sent 0 of 4 rows of 3 files; 2 unchanged.",
        "Nothing to do: both rows of a.csv are unchanged.",
        "Stopped: sent 0 of 1 row of b.csv.",
        "  1 row not imported: the service rejected the batch",
        "c.csv.gz was not started (1 row).",
        "To resume, run the same command again (nothing is sent twice):",
        "  cat import a.csv b.csv c.csv.gz",
        "error: ",
      ].join("\n"),
    );
    expect((await cat("import a.csv b.csv c.csv.gz")).exit).toBe(0);
    expect(references()).toEqual(["A1", "A2", "B1", "C1"]);
    expect(photos()).toEqual([1, 1, 1, 1]);
  },
);

test("Ctrl-C stops before the next file", async () => {
  const { cat, clock, fault, references } = await severalWorld();
  await cat("import a.csv");
  const { slept } = clock;
  const before = slept.length;
  await fault({ match: { method: "POST", path: "/v1/imports" }, times: 1, status: 503 });
  clock.isIdle = () => false;
  const running = cat(all);
  await until(() => slept.length > before);
  running.interrupt();
  clock.isIdle = () => true;
  const ran = await running;
  expect(ran.exit).toBe(130);
  expect(ran.stderr).toContain(`c.csv.gz was not started (1 row).\nTo resume, run the same command again`);
  expect(references()).toEqual(["A1", "A2"]);
  expect((await cat(all)).exit).toBe(0);
  expect(references()).toEqual(["A1", "A2", "B1", "C1"]);
});

longTest("cat import of several files writes the failed rows of each file next to it", async () => {
  const { cat, write, read } = await severalWorld();
  write("d.csv", `${head}${row("D1", "fail-timeout")}`);
  write("e.csv", `${head}${row("E1", "fail-timeout")}${row("E2")}`);
  const ran = await cat("import d.csv e.csv");
  expect(ran.exit).toBe(8);
  expect(ran.stderr).toMatch(/Imported 1 of 3 rows from 2 files in [\d.]+ s: 1 created\.\n/);
  for (const name of ["d", "e"]) {
    expect(ran.stderr).toContain(`Fix them there, then run:\n  cat import ${name}.failed.csv\n`);
    expect(read(`${name}.failed.csv`)).toContain("fail-timeout");
  }
  const quiet = await cat("import d.csv e.csv --quiet --fresh");
  expect(quiet.exit).toBe(8);
  expect(quiet.stderr).toBe(
    "error: 2 of 3 rows of 2 files were not imported in full (2 failed); these rows are in d.failed.csv and e.failed.csv, with the reasons\n",
  );
});

test.each(
  sampled(
    [
      ["import a.csv b.csv --failed f.csv", "--failed cannot be used with several files"],
      ["import a.csv b.csv --results r.csv", "--results cannot be used with several files"],
      ["import a.csv b.csv --no-wait", "--no-wait cannot be used with several files"],
      ["import a.csv b.csv --mode create", "--mode create cannot be used with several files"],
      ["import a.csv b.csv --photos all", "--photos all cannot be used with several files"],
      ["import a.csv b.csv --images-from photos", "--images-from cannot be used with several files"],
      ["import a.csv b.csv --pattern {reference}", "--pattern cannot be used with several files"],
      ["import a.csv -", "standard input (-) cannot be combined with files"],
    ],
    3,
  ),
)("%j exits with 2", async (line, message) => {
  const { cat, write, folder, products } = await severalWorld();
  write("b.csv", `${head}${row("B1")}`);
  mkdirSync(join(folder, "photos"));
  const ran = await cat(line);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toBe(`error: ${message}\nImport each file with a command of its own.\n`);
  expect(products()).toEqual([]);
});

test("a folder of photos beside a file exits with 2, and names the flag that adds them", async () => {
  const { cat, folder, products } = await severalWorld();
  mkdirSync(join(folder, "my photos"));
  expect(await cat('import a.csv "my photos"')).toMatchObject({
    exit: 2,
    stderr:
      "error: the folder my photos cannot be combined with other files\nTo add its photos to the rows of a file, use --images-from 'my photos' instead.\n",
  });
  expect(products()).toEqual([]);
});

test("cat import of several files rejects a file that is named twice, also by another path or link", async () => {
  const { cat, folder } = await severalWorld();
  symlinkSync("a.csv", join(folder, "link.csv"));
  linkSync(join(folder, "a.csv"), join(folder, "hard.csv"));
  for (const other of ["./a.csv", "link.csv", "hard.csv"]) {
    const ran = await cat(["import", "a.csv", other]);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toBe(`error: a.csv and ${other} are the same file\nRemove one of them.\n`);
  }
  expect((await cat("import a.csv a.csv")).stderr).toBe("error: a.csv is named twice\nRemove one of them.\n");
});

test.each(["tryon", "beautify"])("%s takes one file", async (kind) => {
  const { cat } = await severalWorld();
  const ran = await cat(`${kind} a.csv b.csv`);
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toBe(
    `error: cat ${kind} takes one file, and 2 are named\nRun it once for each file. See: cat ${kind} --help\n`,
  );
});

const requests = ["POST", "GET"].map((method) => ({ match: { method, path: "/v1/imports" } }));
const stop = fc
  .tuple(
    fc.constantFrom(...requests),
    fc.constantFrom(
      { status: 402 },
      { status: 403 },
      { drop: "after", times: 20 },
      { drop: "before", times: 20 },
    ),
  )
  .map(([request, what]) => ({ times: 1, ...request, ...what }));

test("any stops leave the same products as one run of all files", async () => {
  const files = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1 }), {
    minLength: 2,
    maxLength: 3,
  });
  const mode = fc.constantFrom("", "--mode skip_existing", "--ledger l.db");
  await fc.assert(
    fc.asyncProperty(files, fc.array(stop, { maxLength: 3 }), mode, async (all, stops, flags) => {
      const { cat, write, mock, fault, references, photos } = await severalWorld();
      const names = all.map((_, file) => `${file}.csv`);
      const rows = all.map((numbers, file) => numbers.map((number) => `F${file}-${number}`));
      for (const [file, name] of names.entries())
        write(name, head + rows[file]!.map((one) => row(one)).join(""));
      const line = `import ${names.join(" ")} ${flags}`;
      for (const order of stops) {
        await fault(order);
        await cat(line);
        await fetch(`${mock.baseUrl}/_mock/faults`, { method: "DELETE" });
      }
      const last = await cat(line);
      expect(last.exit, last.stderr).toBe(0);
      expect(references().sort()).toEqual(rows.flat().sort());
      expect(photos()).toEqual(rows.flat().map(() => 1));
    }),
    { numRuns: repetitions(2, 100) },
  );
});
