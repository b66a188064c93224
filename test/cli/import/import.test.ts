import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const tidy = `reference,name,images\nA-1,Dress,${cdn}/1.jpg\nA-2,Coat,${cdn}/2.jpg\n`;

/** Makes every request to the mock fail in this way, and returns its URL. */
async function failing({ mock }: TestWorld, how: object): Promise<string> {
  const order = { match: { path: "/v1" }, ...how };
  await fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
  return mock.baseUrl;
}

describe("an import", () => {
  test("prints its summary on stderr and nothing on stdout", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    const ran = await world.cat("import products.csv --no-progress");
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr).toMatch(/^Imported 2 rows from products\.csv in \d+\.\d s: 2 created\.\n$/);
    expect(world.products().map(({ reference, name, images }) => [reference, name, images.length])).toEqual([
      ["A-1", "Dress", 1],
      ["A-2", "Coat", 1],
    ]);
  });

  test("prints one object on stdout with --json", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    const ran = await world.cat("import products.csv --json --no-progress");
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    const [job] = Object.values(world.mock.state().organizations.main.imports);
    expect(JSON.parse(ran.stdout)).toEqual({
      run_id: expect.stringMatching(/^run_[0-9a-z]+$/),
      file: "products.csv",
      mode: "upsert",
      total: 2,
      invalid: 0,
      submitted: 2,
      succeeded: 2,
      partial: 0,
      failed: 0,
      created: 2,
      updated: 0,
      skipped: 0,
      unchanged: 0,
      kept: 0,
      conflicts: 0,
      deleted: 0,
      photos: { added: 2, replaced: 0, removed: 0, moved: 0, adopted: 0 },
      not_applied: { emptied: 0, removed: 0 },
      known_failures: 0,
      imports: [{ id: job!.id, status: "completed", rows: 2 }],
      failed_file: null,
      results_file: null,
      duration_ms: expect.any(Number),
    });
  });

  test("reads standard input", async () => {
    const world = await createWorld();
    const ran = await world.cat("import - --json --no-progress", { stdin: tidy });
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ file: "-", succeeded: 2 });
  });

  test("exits with 8 for failed rows, and prints the first reasons and the next command", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat("import fixtures/some-fail.csv --no-progress");
    expect(ran.exit).toBe(8);
    expect(ran.stderr.replace(/in [\d.]+ s/, "in N s")).toBe(
      "Imported 3 of 4 rows from fixtures/some-fail.csv in N s: 3 created.\n" +
        "  1 row failed\n" +
        "  1 row imported without some of its photos\n" +
        "    fixtures/some-fail.csv:3  PARTIAL-1  https://cdn.example.com/autumn-26/fail-timeout.jpg: the image could not be fetched: timeout\n" +
        "    fixtures/some-fail.csv:4  FAILED-1  1 of 1 images could not be attached; https://cdn.example.com/autumn-26/fail-not_an_image.jpg: the image could not be fetched: not an image\n" +
        "Failed and partial rows are in fixtures/some-fail.failed.csv, with the reasons. Fix them there, then run:\n" +
        "  cat import fixtures/some-fail.failed.csv\n",
    );
    expect(world.read("fixtures/some-fail.failed.csv")).toContain("PARTIAL-1");
  });

  longTest(
    "with --quiet prints nothing on success, and one line with the failed file otherwise",
    async () => {
      const world = await createWorld();
      world.withFixtures();
      world.write("tidy.csv", tidy);
      expect(await world.cat("import tidy.csv --quiet")).toEqual({ exit: 0, stdout: "", stderr: "" });
      expect(await world.cat("import fixtures/some-fail.csv --quiet")).toEqual({
        exit: 8,
        stdout: "",
        stderr:
          "error: 2 of 4 rows of fixtures/some-fail.csv were not imported in full (1 failed, 1 partial); " +
          "these rows are in fixtures/some-fail.failed.csv, with the reasons\n",
      });
      // Invalid rows are listed, like errors.
      world.write("one-bad.csv", tidy.replace("A-2,Coat,", "A-2,,"));
      const left = await world.cat("import one-bad.csv --skip-invalid --quiet");
      expect(left).toMatchObject({ exit: 8, stdout: "" });
      expect(left.stderr.split("\n")).toEqual([
        expect.stringMatching(/^one-bad\.csv:3 {2}name {2}invalid_row {2}/),
        "error: 1 of 2 rows of one-bad.csv was not imported in full (1 invalid); these rows are in one-bad.failed.csv, with the reasons",
        "",
      ]);
      const asJson = await world.cat("import fixtures/some-fail.csv --mode create --quiet --json");
      expect(asJson.exit).toBe(8);
      expect(JSON.parse(asJson.stderr).error).toMatchObject({
        type: "partial",
        code: "rows_failed",
        exit: 8,
      });
      expect(JSON.parse(asJson.stdout)).toMatchObject({ failed_file: "fixtures/some-fail.failed.csv" });
    },
  );

  test("keeps an earlier failed file with the default name", async () => {
    const world = await createWorld();
    world.withFixtures();
    await world.cat("import fixtures/some-fail.csv --no-progress");
    world.write("fixtures/some-fail.failed.csv", "half mended");
    const ran = await world.cat("import fixtures/some-fail.csv --json --no-progress");
    expect(JSON.parse(ran.stdout).failed_file).toBe("fixtures/some-fail.failed.csv");
    expect(world.read("fixtures/some-fail.failed.1.csv")).toBe("half mended");
  });

  test("writes the files of --failed and --results", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat(
      "import fixtures/some-fail.csv --failed bad.csv --results all.csv --no-progress",
    );
    expect(ran.exit).toBe(8);
    expect(world.read("bad.csv").split("\n")).toHaveLength(4);
    const results = world.read("all.csv").trimEnd().split("\n");
    expect(results[0]).toBe(
      "file_line,line,reference,status,action,product_id,error_code,error_message,images",
    );
    expect(results.slice(1).map((line) => line.split(",").slice(0, 5))).toEqual([
      ["2", "1", "OK-1", "succeeded", "created"],
      ["3", "2", "PARTIAL-1", "partial", "created"],
      ["4", "3", "FAILED-1", "failed", "none"],
      ["5", "4", "OK-2", "succeeded", "created"],
    ]);
  });
});

describe("the check of a file", () => {
  test("rejects the file with every problem at FILE:LINE", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat("import fixtures/faults/duplicate-reference.csv --no-progress");
    expect(ran).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'fixtures/faults/duplicate-reference.csv:3  reference  duplicate_reference_in_file  duplicate reference "A-1", first used on line 2\n' +
        "Each product has one row: correct the rows that are not of the same product as the first.\n" +
        'fixtures/faults/duplicate-reference.csv:3  1 product has rows that contradict each other: name "Dress again" contradicts "Dress" on line 2.\n' +
        "error: fixtures/faults/duplicate-reference.csv has 1 invalid row out of 2; nothing was sent\n" +
        "Fix the file and run the command again, or add --skip-invalid to import the valid rows.\n",
    });
    expect(world.requests()).toEqual([]);
    expect(world.products()).toEqual([]);
  });

  test("names the command that imports the valid rows, also for a dry run with --skip-invalid", async () => {
    const world = await createWorld();
    world.write("a.csv", "reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\nB,,\n");
    const hint = async (flags: string) => {
      const { exit, stderr } = await world.cat(`import a.csv ${flags}`.trim());
      return [exit, stderr.split("\n").at(-2)];
    };
    const fix = "Fix the file and run the command again";
    const added = `${fix}, or add --skip-invalid to import the valid rows.`;
    expect(await hint("")).toEqual([3, added]);
    expect(await hint("--dry-run")).toEqual([3, added]);
    const removed = `${fix}, or remove --dry-run to import the valid rows.`;
    expect(await hint("--dry-run --skip-invalid")).toEqual([3, removed]);
    expect((await world.cat("import a.csv --skip-invalid")).exit).toBe(8);
    world.write("a.csv", "reference,name,images\nB,,\n");
    expect(await hint("--skip-invalid --dry-run")).toEqual([3, `${fix}.`]);
    expect(await hint("--skip-invalid")).toEqual([3, `${fix}.`]);
  });

  test("prints one object with --dry-run --json", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat("import fixtures/faults/wrong-sex.csv --dry-run --json");
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stdout)).toEqual({
      file: "fixtures/faults/wrong-sex.csv",
      total: 1,
      valid: 0,
      invalid: 1,
      problems: [
        {
          line: 2,
          reference: "A-1",
          param: "sex",
          code: "invalid_row",
          message:
            'sex must be one of male, female, other, kid, not "women": did you mean "female"? Correct it, or use --map-value "sex:women=female"',
        },
      ],
    });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { type: "input", code: "invalid_rows", exit: 3 } });
  });

  test("stops early on an endless device", async () => {
    const world = await createWorld();
    const ran = await world.cat("import /dev/zero --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("error: /dev/zero has a line of more than 8 MiB\n");
  });

  test("of a valid file in a dry run says so and sends nothing", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    const ran = await world.cat("import products.csv --dry-run --no-progress");
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: "products.csv: 2 rows, all valid. Nothing was sent (--dry-run).\n",
    });
    expect(JSON.parse((await world.cat("import products.csv --dry-run --json")).stdout)).toEqual({
      file: "products.csv",
      total: 2,
      valid: 2,
      invalid: 0,
      problems: [],
    });
    expect(world.requests()).toEqual([]);
  });

  test("needs no API key and no URL", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined, CAT_BASE_URL: undefined } });
    world.write("products.csv", tidy);
    expect((await world.cat("import products.csv --dry-run")).exit).toBe(0);
  });

  test("shows control characters as escapes", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,sex,images\nA\x1b[2J,Dress,\x9b31m\u202e,${cdn}/1.jpg\n`);
    const ran = await world.cat("import a.csv");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  longTest("lists at most 1,000 problems, but all with --json", async () => {
    const world = await createWorld();
    const rows = Array.from({ length: 1500 }, (_, index) => `R-${index},,${cdn}/1.jpg\n`).join("");
    world.write("a.csv", `reference,name,images\n${rows}`);
    const ran = await world.cat("import a.csv --no-progress");
    const lines = ran.stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(1003);
    expect(lines[1000]).toBe("and 500 more problems; to list all of them, add --dry-run --json");
    expect(lines[1001]).toBe("error: a.csv has 1,500 invalid rows out of 1,500; nothing was sent");
    const json = await world.cat("import a.csv --dry-run --json");
    expect(JSON.parse(json.stdout).problems).toHaveLength(1500);
  });

  test.each([
    ["import nowhere.csv", "error: nowhere.csv does not exist"],
    ["import .", "error: . is a folder without photos or a sheet"],
  ])("%s fails with a plain error", async (line, message) => {
    const world = await createWorld();
    const ran = await world.cat(line);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([2, message]);
  });
});

describe("flags", () => {
  test.each(
    sampled(
      [
        ["import", "missing argument: FILE"],
        ["import a.csv --mode replace", "use upsert, create or skip_existing"],
        ["import a.csv --on-image-error ignore", "use skip or fail_row"],
        ["import a.csv --concurrency 0", "use a whole number from 1 to 16"],
        ["import a.csv --timeout 5", "use a duration such as 90s, 30m or 2h"],
        ["import a.csv --delimiter ab", "use a single character"],
        ["import a.csv --encoding klingon", "unknown encoding: --encoding klingon"],
        ["import a.csv --map SKU", "use COLUMN=FIELD"],
        ["import a.csv --map SKU=sku", 'unknown field "sku"'],
        ["import a.csv --map SKU=reference --map sku=name", 'the column "sku" is mapped twice'],
        ["import a.csv --failed a.csv", "cannot write --failed a.csv: it is the input file"],
        ["import a.csv --failed b.csv --results ./b.csv", "--results and --failed use the same file"],
        ["import a.csv --ledger=", "--ledger is empty"],
        ["import ''", "error: the file name is empty\nChoose a file, or - for standard input."],
        ["import a.csv --nonsense", "unknown flag --nonsense"],
      ],
      5,
    ),
  )("make %s exit with 2", async (line, message) => {
    const world = await createWorld();
    world.write("a.csv", tidy);
    const ran = await world.cat(line);
    expect(ran.exit).toBe(2);
    expect(ran.stdout).toBe("");
    expect(ran.stderr).toContain(message);
    expect(ran.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    expect(world.products()).toEqual([]);
  });

  const fields =
    "FIELD is one of reference, name, description, sex, images, image_1 to image_20, image_1_orientation to image_20_orientation, image_front and other orientations, or ignore.";
  const shape = `For example: --map SKU=reference. COLUMN is a column of the file. ${fields}`;
  test.each([
    [["=name"], '"=name": use COLUMN=FIELD', shape],
    [["sku"], '"sku": use COLUMN=FIELD', shape],
    [["Titel=titel"], '"Titel=titel": unknown field "titel"', `Did you mean name? ${fields}`],
    [["Titel=zzz"], '"Titel=zzz": unknown field "zzz"', fields],
    [
      ["titel=name", "Titel=description"],
      '"Titel=description": the column "titel" is mapped twice',
      "It is already mapped to name. Remove one of the two.",
    ],
  ])("reject --map %j with a fitting hint", async (entries, wrong, hint) => {
    const world = await createWorld();
    world.write("a.csv", tidy);
    const ran = await world.cat(["import", "a.csv", ...entries.flatMap((entry) => ["--map", entry])]);
    expect(ran).toMatchObject({ exit: 2, stdout: "", stderr: `error: invalid --map ${wrong}\n${hint}\n` });
  });

  test.each(
    sampled([
      ["import a.ndjson --delimiter tab", "--delimiter", "a.ndjson"],
      ["import a.csv --format ndjson --delimiter tab", "--delimiter", "a.csv"],
      ["import a --delimiter ,", "--delimiter", "a"],
      ["import - --format ndjson --delimiter ,", "--delimiter", "stdin"],
      ["import - --delimiter ,", "--delimiter", "stdin"],
      ["import nowhere.jsonl --delimiter ,", "--delimiter", "nowhere.jsonl"],
    ]),
  )("make %s exit with 2, because NDJSON has no columns", async (line, flag, name) => {
    const world = await createWorld();
    const row = `{"reference":"A","name":"Dress","images":[{"url":"${cdn}/1.jpg"}]}\n`;
    for (const file of ["a.ndjson", "a.csv", "a"]) world.write(file, row);
    const ran = await world.cat(line, { stdin: row });
    expect({ exit: ran.exit, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        `error: cannot use ${flag}: ${name} is read as NDJSON\n` +
        `Remove ${flag}, or add --format csv if the file is CSV.\n`,
    });
    expect(world.products()).toEqual([]);
  });

  test("--map, --delimiter and --encoding read a spreadsheet in another language", async () => {
    const world = await createWorld();
    const text = `SKU|Bezeichnung|Fotos|Preis\nA-1|Ärmelloses Kleid|${cdn}/1.jpg|12,50\n`;
    world.write("katalog.csv", Buffer.from(text, "latin1"));
    const ran = await world.cat(
      "import katalog.csv --delimiter | --encoding windows-1252 --map SKU=reference --map Bezeichnung=name --map Fotos=images --map Preis=ignore",
    );
    expect(ran.exit).toBe(0);
    expect(world.products().map(({ name }) => name)).toEqual(["Ärmelloses Kleid"]);
  });
});

describe("a service that fails", () => {
  test.each<[string, number, string, RequestListener]>(
    sampled([
      [
        "HTML",
        7,
        "HTML",
        (_, response) => response.setHeader("content-type", "text/html").end("<h1>Welcome</h1>"),
      ],
      [
        "half a document",
        7,
        "",
        (_, response) => response.setHeader("content-type", "application/json").end('{"id":"01'),
      ],
      ["nothing", 7, "", (request) => request.socket.destroy()],
      [
        "a rejected key",
        4,
        "the key is unknown",
        (_, response) =>
          response
            .writeHead(401, { "content-type": "application/json", "x-request-id": "req-1" })
            .end('{"error":{"type":"unauthorized","code":"invalid_api_key","message":"the key is unknown"}}'),
      ],
      [
        "500 forever",
        7,
        "",
        (_, response) =>
          response
            .writeHead(500, { "content-type": "application/json" })
            .end('{"error":{"type":"internal","code":"internal_error","message":"something broke"}}'),
      ],
    ]),
  )("with %s leads to exit %i and a plain error", async (_, exit, words, answer) => {
    const server = createServer(
      (request, response) => void request.resume().on("end", () => answer(request, response)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const world = await createWorld({ env: { CAT_BASE_URL: `http://127.0.0.1:${port}` } });
    world.write("products.csv", tidy);
    const ran = await world.cat("import products.csv --no-progress");
    expect(ran.exit).toBe(exit);
    expect(ran.stdout).toBe("");
    expect(ran.stderr).toMatch(/^Stopped: sent 0 of 2 rows of products\.csv\.$/m);
    expect(ran.stderr).toMatch(/^error: /m);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
  });

  test.each(
    sampled(
      [
        ["nobody listens", "cannot be reached", async () => "http://127.0.0.1:9"],
        ["it fails", "responds with 503", (world: TestWorld) => failing(world, { status: 503 })],
        [
          "it cuts the connection",
          "closes the connection",
          (world: TestWorld) => failing(world, { drop: "before" }),
        ],
      ],
      1,
    ),
  )("is named when the import times out while %s, also as JSON", async (_, words, addressOf) => {
    const world = await createWorld();
    const address = await addressOf(world);
    world.write("products.csv", tidy);
    const ran = await world.cat(`import products.csv --timeout 2s --json --base-url ${address}`);
    expect([ran.exit, JSON.parse(ran.stderr)]).toEqual([
      7,
      {
        error: {
          type: "timeout",
          code: "wait_timeout",
          message:
            `the import did not finish within 2 s: ${address} ${words}. ` +
            "The service keeps processing what it accepted. To resume the rest, run the same command again.",
          exit: 7,
        },
      },
    ]);
  });

  longTest("is named when a resumed run times out", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    await world.cat("import products.csv --no-wait");
    const address = await failing(world, { status: 503 });
    const { stderr } = await world.cat("import products.csv --timeout 2s --quiet");
    expect(stderr.split("\n")[0]).toBe(
      `error: the import did not finish within 2 s: ${address} responds with 503`,
    );
  });
});

test("a long wait for the rate limit is reported once", async () => {
  const world = await createWorld({ mock: { rateLimit: { reads: 600, writes: 1 } } });
  const [count, flag] = repetitions([3, "--batch 1"], [4_001, ""]);
  const rows = Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`).join("");
  world.write("a.csv", `reference,name,images\n${rows}`);
  const ran = await world.cat(`import a.csv --no-progress ${flag}`.trim());
  expect(ran.exit).toBe(0);
  expect(world.products()).toHaveLength(count);
  const waits = ran.stderr.split("\n").filter((line) => line.startsWith("Rate limit reached"));
  expect(waits).toEqual([
    expect.stringMatching(/^Rate limit reached; continuing in \d+ s\.$/),
    expect.stringMatching(/^Rate limit reached; continuing in \d+ s\.$/),
  ]);
  expect(world.requests().filter(({ status }) => status === 429)).toEqual([]);
});

describe("an interrupt", () => {
  test("stops sending and names the imports in progress", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    const running = world.cat("import products.csv --no-progress");
    await until(() => world.requests().some(({ method }) => method === "POST"));
    running.interrupt();
    const ran = await running;
    expect(ran.exit).toBe(130);
    expect(ran.stderr).toContain("Stopped: sent 2 of 2 rows of products.csv.");
    expect(ran.stderr).toMatch(/2 rows in progress at the service: import [0-9A-Z]{26} \(\w+\)/);
    expect(ran.stderr).toContain("interrupted");
  });
});
