import { expect, onTestFinished, test } from "vitest";
import { json, scriptedServer, stopServers } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { importsWorld, mixed, tidy, unknownId } from "./imports-world.ts";

const cdn = "https://cdn.example.com";

/** Cells as a table in a pipe. */
const table = (rows: string[][]): string =>
  rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(Math.max(...rows.map((one) => one[index]!.length))))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");

test("rows are a table with the lines of the file, and the reasons of failed rows", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed);
  const [one, part, two] = world.products();
  expect(await world.cat(`imports rows ${id}`)).toEqual({
    exit: 0,
    stderr: "",
    stdout: table([
      ["reference", "line", "status", "action", "images", "error", "product_id"],
      ["OK-1", "2", "succeeded", "created", "1/1", "", one!.id],
      [
        "PART-1",
        "3",
        "partial",
        "created",
        "1/3",
        `${cdn}/fail-timeout.jpg: the image could not be fetched: timeout; ${cdn}/fail-not_an_image.jpg: the image could not be fetched: not an image`,
        part!.id,
      ],
      [
        "BAD-1",
        "4",
        "failed",
        "none",
        "0/1",
        `1 of 1 images could not be attached; ${cdn}/fail-http_error.jpg: the image could not be fetched: http error`,
        "",
      ],
      ["OK-2", "5", "succeeded", "created", "1/1", "", two!.id],
    ]),
  });
});

test("with --json, rows are printed as the service returns them, with the line of the file, filtered by --status", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed);
  const ran = await world.cat(`imports rows ${id} --status failed --json`);
  expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
    exit: 0,
    stderr: "",
    stdout: {
      line: 3,
      reference: "BAD-1",
      status: "failed",
      action: "none",
      product_id: null,
      images: [
        {
          index: 0,
          source: `${cdn}/fail-http_error.jpg`,
          orientation: "unlabeled",
          status: "failed",
          error: { code: "http_error", message: expect.any(String) },
        },
      ],
      error: { code: "image_failed", message: expect.any(String) },
      file_line: 4,
    },
  });
  const lines = async (status: string) =>
    (await world.cat(`imports rows ${id} --json --status ${status}`)).stdout
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line).line]));
  expect([await lines("succeeded"), await lines("partial"), await lines("pending")]).toEqual([
    [1, 4],
    [2],
    [],
  ]);
  expect((await world.cat(`imports rows ${id} --status pending`)).stderr).toBe("No pending rows.\n");
  expect(await world.cat(`imports rows ${id} --status lost`)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("use pending, succeeded, partial or failed"),
  });
});

test("as CSV, rows have the columns of a results file", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed, "--results results.csv");
  const csv = (await world.cat(`imports rows ${id} --format csv`)).stdout.split("\n");
  const results = world.read("results.csv").split("\n");
  expect(csv[0]).toBe("file_line,line,reference,status,action,product_id,error_code,error_message,images");
  expect(csv).toEqual(results);
});

test("pending rows have no results", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(1), "--no-wait");
  expect((await world.cat(`imports rows ${id}`)).stdout).toBe(
    "reference  line  status   action  images  error  product_id\nR-0        2     pending\n",
  );
});

test("25 rows are listed by default, more pages with --limit, and all with --all", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(230));
  const first = await world.cat(`imports rows ${id}`);
  expect(first.stdout.trimEnd().split("\n")).toHaveLength(26);
  expect(first.stderr).toBe("Showing the first 25. To see more, add --limit N or --all.\n");
  const before = world.requests().length;
  const some = await world.cat(`imports rows ${id} --limit 120 --json`);
  expect(some.stdout.trimEnd().split("\n")).toHaveLength(120);
  expect(world.requests()).toHaveLength(before + 2);
  const all = await world.cat(`imports rows ${id} --all --json`);
  expect(all.stdout.match(/"reference":"R-\d+"/g)).toEqual(
    Array.from({ length: 230 }, (_, index) => `"reference":"R-${index}"`),
  );
  expect(all.stderr).toBe("");
  expect((await world.cat(`imports rows ${id} --limit 230`)).stderr).toBe("");
});

longTest("the listing stops when the reader closes the pipe", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(2000));
  const before = world.requests().length;
  const ran = await world.cat(`imports rows ${id} --all --json`, { stdoutReads: 1 });
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(world.requests().length - before).toBeLessThan(15);
});

test("control characters are shown as escapes", async () => {
  const world = await importsWorld();
  const row = { reference: "A\u0007\u009b2J", name: "Dress", images: [{ url: `${cdn}/1.jpg` }] };
  // An import would reject the reference.
  world.write("a.ndjson", JSON.stringify(row));
  const id = JSON.parse((await world.cat("api POST /imports --input a.ndjson")).stdout).id;
  expect((await world.cat(`imports rows ${id}`)).stdout).toContain("A\\x07\\x9b2J");
  expect((await world.cat(`imports rows ${id} --json`)).stdout).toContain("A\\u0007\\u009b2J");
});

test.each(sampled([40, 60, 80], 1))(
  "on a terminal of %i columns no ID is cut, and hidden columns are named",
  async (columns) => {
    const world = await importsWorld({ columns });
    const id = await world.send("a-file-with-a-rather-long-name-for-a-table.csv", mixed);
    const tty = { tty: { stdout: true } };
    const ids = world.products().map((product) => product.id);
    const rows = await world.cat(`imports rows ${id} --no-color`, tty);
    const left = {
      40: "line, status, action, images, error",
      60: "action, images, error",
      80: "action",
    }[columns]!;
    const note = (names: string) =>
      `The terminal is too narrow for: ${names}. To see all columns, add --format csv.\n`;
    expect({ ...rows, stdout: ids.filter((one) => rows.stdout.includes(one)) }).toEqual({
      exit: 0,
      stdout: ids,
      stderr: note(left),
    });
    const listed = await world.cat("imports list --no-color", tty);
    expect(listed.stdout).toMatch(new RegExp(`\na-file-.* ${id}\n`));
    if (columns > 40) {
      expect(rows.stdout.match(/(?<=-\d +\d +)(?:succeeded|partial|failed)/g)).toEqual([
        "succeeded",
        "partial",
        "failed",
        "succeeded",
      ]);
    }
    const products = await world.cat("products list --no-color", tty);
    // With the names there is no room for IDs on 40 columns.
    expect(ids.filter((one) => products.stdout.includes(one))).toEqual(columns > 40 ? ids : []);
    for (const { stdout } of [rows, listed, products]) {
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    }
    expect((await world.cat(`imports rows ${id} --quiet`, tty)).stderr).toBe("");
  },
);

test("rows are shown with the fields they have, whatever the values", async () => {
  onTestFinished(stopServers);
  const row = {
    line: 1,
    reference: "A",
    status: "succeeded",
    action: "created",
    product_id: null,
    images: [],
  };
  const { product_id: _, ...withoutProduct } = row;
  const rows = [
    { ...row, action: "merged" },
    { ...row, line: 2, status: "queued", images: [{ index: "0", status: "queued", image_id: 7 }] },
    { ...row, line: 3, reference: null },
    { ...withoutProduct, line: 4 },
    { ...row, line: 5, images: null, error: "odd" },
  ];
  const server = await scriptedServer(json(200, { data: rows, next_cursor: null, has_more: false }));
  const world = await importsWorld();
  const env = { CAT_BASE_URL: server.origin };
  const shown = await world.cat(`imports rows ${unknownId} --json`, { env });
  expect([
    shown.exit,
    shown.stderr,
    shown.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ]).toEqual([0, "", rows]);
  expect(await world.cat(`imports rows ${unknownId}`, { env })).toMatchObject({ exit: 0, stderr: "" });
  expect(await world.cat(`imports rows ${unknownId} --format csv`, { env })).toMatchObject({ exit: 0 });
});
