import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const tidy = `reference,name,images\nA-1,Dress,${cdn}/1.jpg\nA-2,Coat,${cdn}/2.jpg\n`;

/** Has the world's service fail at everything in that way; gives its address. */
async function failing({ mock }: TestWorld, how: object): Promise<string> {
  const order = { match: { path: "/v1" }, ...how };
  await fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
  return mock.baseUrl;
}

describe("an import", () => {
  test("says on stderr what came of it, and leaves stdout to data", async () => {
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

  test("with --json is one object on stdout", async () => {
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

  test("with rows that fail ends with 8, and says what to type next", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat("import fixtures/some-fail.csv --no-progress");
    expect(ran.exit).toBe(8);
    expect(ran.stderr.replace(/in [\d.]+ s/, "in N s")).toBe(
      "Imported 2 of 4 rows whole from fixtures/some-fail.csv in N s: 3 created.\n" +
        "  1 row failed\n" +
        "  1 row partial: the product is there, some of its photos are not\n" +
        "What did not make it is in fixtures/some-fail.failed.csv, with the reason. Put it right, then run:\n" +
        "  cat import fixtures/some-fail.failed.csv\n",
    );
    expect(world.read("fixtures/some-fail.failed.csv")).toContain("PARTIAL-1");
  });

  test("with --quiet is silent when all is well, and says in one line where the rows are that failed", async () => {
    const world = await createWorld();
    world.withFixtures();
    world.write("tidy.csv", tidy);
    expect(await world.cat("import tidy.csv --quiet")).toEqual({ exit: 0, stdout: "", stderr: "" });
    expect(await world.cat("import fixtures/some-fail.csv --quiet")).toEqual({
      exit: 8,
      stdout: "",
      stderr:
        "error: 2 of 4 rows of fixtures/some-fail.csv did not make it; " +
        "what did not is in fixtures/some-fail.failed.csv, with the reason\n",
    });
    // Rows that the check refused are listed, as errors are.
    world.write("one-bad.csv", tidy.replace("A-2,Coat,", "A-2,,"));
    const left = await world.cat("import one-bad.csv --skip-invalid --quiet");
    expect(left).toMatchObject({ exit: 8, stdout: "" });
    expect(left.stderr.split("\n")).toEqual([
      expect.stringMatching(/^one-bad\.csv:3 {2}name {2}invalid_row {2}/),
      "error: 1 of 2 rows of one-bad.csv did not make it; what did not is in one-bad.failed.csv, with the reason",
      "",
    ]);
    // For programs the summary says it.
    const asJson = await world.cat("import fixtures/some-fail.csv --mode create --quiet --json");
    expect(asJson).toMatchObject({ exit: 8, stderr: "" });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ failed_file: "fixtures/some-fail.failed-2.csv" });
  });

  test("never overwrites an earlier failed file that nobody named", async () => {
    const world = await createWorld();
    world.withFixtures();
    await world.cat("import fixtures/some-fail.csv --no-progress");
    world.write("fixtures/some-fail.failed.csv", "half mended");
    const ran = await world.cat("import fixtures/some-fail.csv --json --no-progress");
    expect(JSON.parse(ran.stdout).failed_file).toBe("fixtures/some-fail.failed-2.csv");
    expect(world.read("fixtures/some-fail.failed.csv")).toBe("half mended");
  });

  test("writes --failed and --results where it is told", async () => {
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

describe("a file with problems", () => {
  test("is refused whole, with every problem at FILE:LINE", async () => {
    const world = await createWorld();
    world.withFixtures();
    const ran = await world.cat("import fixtures/faults/duplicate-reference.csv --no-progress");
    expect(ran).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'fixtures/faults/duplicate-reference.csv:3  reference  duplicate_reference_in_file  duplicate reference "A-1", first used on line 2\n' +
        "error: 1 of 2 rows of fixtures/faults/duplicate-reference.csv do not validate; nothing was sent\n" +
        "Mend them and run the command again, or import only the others with --skip-invalid.\n",
    });
    expect(world.requests()).toEqual([]);
    expect(world.products()).toEqual([]);
  });

  test("is reported as one object with --dry-run --json", async () => {
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
          message: 'sex must be one of male, female, other, kid, not "women": did you mean "female"?',
        },
      ],
    });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { type: "input", code: "invalid_rows", exit: 3 } });
  });

  test("is refused early where it is a device without end", async () => {
    const world = await createWorld();
    const ran = await world.cat("import /dev/zero --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("/dev/zero:1  -  nul_byte  ");
  });

  test("in order, a dry run says so and sends nothing", async () => {
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

  test("needs no key and no address to be checked", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined, CAT_BASE_URL: undefined } });
    world.write("products.csv", tidy);
    expect((await world.cat("import products.csv --dry-run")).exit).toBe(0);
  });

  test("shows control characters instead of obeying them", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,sex,images\nA\x1b[2J,Dress,\x9b31m\u202e,${cdn}/1.jpg\n`);
    const ran = await world.cat("import a.csv");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  test("with more problems than a person reads is cut short for people only", async () => {
    const world = await createWorld();
    const rows = Array.from({ length: 1500 }, (_, index) => `R-${index},,${cdn}/1.jpg\n`).join("");
    world.write("a.csv", `reference,name,images\n${rows}`);
    const ran = await world.cat("import a.csv --no-progress");
    const lines = ran.stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(1003);
    expect(lines[1000]).toBe("and 500 more: --dry-run --json lists all of them");
    expect(lines[1001]).toBe("error: 1,500 of 1,500 rows of a.csv do not validate; nothing was sent");
    const json = await world.cat("import a.csv --dry-run --json");
    expect(JSON.parse(json.stdout).problems).toHaveLength(1500);
  });

  test.each([
    ["import nowhere.csv", "error: nowhere.csv does not exist"],
    ["import .", "error: . is a folder, not a file"],
  ])("%s is told in a sentence", async (line, message) => {
    const world = await createWorld();
    const ran = await world.cat(line);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([2, message]);
  });
});

describe("flags", () => {
  test.each([
    ["import", "missing required argument"],
    ["import a.csv b.csv", "too many arguments"],
    ["import a.csv --mode replace", "Allowed choices are upsert, create, skip_existing"],
    ["import a.csv --on-image-error ignore", "Allowed choices are skip, fail_row"],
    ["import a.csv --concurrency 0", "It must be a whole number from 1 to 16"],
    ["import a.csv --timeout 5", "It must be a time such as 90s, 30m or 2h"],
    ["import a.csv --delimiter ab", "it must be one character"],
    ["import a.csv --encoding klingon", "no encoding of that name"],
    ["import a.csv --map SKU", "it must be COLUMN=FIELD"],
    ["import a.csv --map SKU=sku", '"sku" is not a field of an import'],
    ["import a.csv --map SKU=reference --map sku=name", 'the column "sku" is mapped twice'],
    ["import a.csv --failed a.csv", "--failed a.csv is the input file itself"],
    ["import a.csv --failed b.csv --results ./b.csv", "--results and --failed name the same file"],
    ["import a.csv --ledger=", "--ledger is empty"],
    ["import ''", "error: FILE is empty\nChoose a file, or - for standard input."],
    ["import a.csv --nonsense", "unknown option '--nonsense'"],
  ])("%s is a wrong command line", async (line, message) => {
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
    "FIELD is reference, name, description, sex, images, image_1 to image_20, image_1_orientation and so on, image_front and the other orientations, or ignore.";
  const shape = `COLUMN is a header of the file, e.g. SKU=reference. ${fields}`;
  test.each([
    [["=name"], '"=name": it must be COLUMN=FIELD', shape],
    [["sku"], '"sku": it must be COLUMN=FIELD', shape],
    [["Titel=titel"], '"Titel=titel": "titel" is not a field of an import', `Did you mean name? ${fields}`],
    [["Titel=zzz"], '"Titel=zzz": "zzz" is not a field of an import', fields],
    [
      ["titel=name", "Titel=description"],
      '"Titel=description": the column "titel" is mapped twice',
      "It is mapped to name already: leave one of the two out.",
    ],
  ])("--map %j is told with a hint that fits the mistake", async (entries, wrong, hint) => {
    const world = await createWorld();
    world.write("a.csv", tidy);
    const ran = await world.cat(["import", "a.csv", ...entries.flatMap((entry) => ["--map", entry])]);
    expect(ran).toMatchObject({ exit: 2, stdout: "", stderr: `error: --map ${wrong}\n${hint}\n` });
  });

  test.each([
    ["import a.ndjson --map SKU=reference", "--map", "a.ndjson"],
    ["import a.ndjson --delimiter tab", "--delimiter", "a.ndjson"],
    ["import a.csv --format ndjson --map SKU=reference --delimiter tab", "--map", "a.csv"],
    ["import a --delimiter ,", "--delimiter", "a"],
    ["import - --format ndjson --map SKU=reference", "--map", "stdin"],
    ["import - --map SKU=reference", "--map", "stdin"],
    ["import nowhere.jsonl --map SKU=reference", "--map", "nowhere.jsonl"],
  ])("%s is a wrong command line, as NDJSON has no columns", async (line, flag, name) => {
    const world = await createWorld();
    const row = `{"reference":"A","name":"Dress","images":[{"url":"${cdn}/1.jpg"}]}\n`;
    for (const file of ["a.ndjson", "a.csv", "a"]) world.write(file, row);
    const ran = await world.cat(line, { stdin: row });
    expect({ exit: ran.exit, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        `error: ${flag} is for CSV, and ${name} is read as NDJSON\n` +
        `Leave ${flag} out, or give --format csv if it is CSV.\n`,
    });
    expect(world.products()).toEqual([]);
  });

  test("a spreadsheet in another language is read with --map, --delimiter and --encoding", async () => {
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
  test.each<[string, number, string, RequestListener]>([
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
      "a refusal of the key",
      4,
      "the key is unknown",
      (_, response) =>
        response
          .writeHead(401, { "content-type": "application/json", "x-request-id": "req-1" })
          .end('{"error":{"type":"unauthorized","code":"invalid_api_key","message":"the key is unknown"}}'),
    ],
    [
      "500 for ever",
      7,
      "",
      (_, response) =>
        response
          .writeHead(500, { "content-type": "application/json" })
          .end('{"error":{"type":"internal","code":"internal_error","message":"something broke"}}'),
    ],
  ])("%s ends with %i and a sentence", async (_, exit, words, answer) => {
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
    expect(ran.stderr).toMatch(/^Stopped: 0 of 2 rows of products\.csv were submitted\.$/m);
    expect(ran.stderr).toMatch(/^error: /m);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
  });

  test.each([
    ["nobody listens", "cannot be reached", async () => "http://127.0.0.1:9"],
    ["it fails", "answers 503", (world: TestWorld) => failing(world, { status: 503 })],
    [
      "it cuts the connection",
      "cuts the connection",
      (world: TestWorld) => failing(world, { drop: "before" }),
    ],
  ])("a wait that runs out while %s says so, also to programs", async (_, words, addressOf) => {
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
            `the import had not ended after 2 s: ${address} ${words}. ` +
            "The service keeps running what it accepted. To resume the rest, run the same command again.",
          exit: 7,
        },
      },
    ]);
  });

  test("a wait for a run that was begun before says so as well", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    await world.cat("import products.csv --no-wait");
    const address = await failing(world, { status: 503 });
    const { stderr } = await world.cat("import products.csv --timeout 2s --quiet");
    expect(stderr.split("\n")[0]).toBe(`error: the import had not ended after 2 s: ${address} answers 503`);
  });

  test("a service with the usual limits is used at its speed, without a 429", async () => {
    const world = await createWorld();
    const rows = Array.from({ length: 5000 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`).join("");
    world.write("a.csv", `reference,name,images\n${rows}`);
    const ran = await world.cat("import a.csv --json --no-progress");
    expect(JSON.parse(ran.stdout)).toMatchObject({ succeeded: 5000 });
    expect(world.requests().filter(({ status }) => status === 429)).toEqual([]);
  });
});

test("a long wait for the rate window is told once", async () => {
  const world = await createWorld({ mock: { rateLimit: { reads: 600, writes: 2 } } });
  const rows = Array.from({ length: 10_000 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`).join("");
  world.write("a.csv", `reference,name,images\n${rows}`);
  const ran = await world.cat("import a.csv --no-progress");
  expect(ran.exit).toBe(0);
  const waits = ran.stderr.split("\n").filter((line) => line.startsWith("Waiting "));
  expect(waits).toEqual([
    expect.stringMatching(/^Waiting \d+ s: this minute's requests are used up\.$/),
    expect.stringMatching(/^Waiting \d+ s: this minute's requests are used up\.$/),
  ]);
  expect(world.requests().filter(({ status }) => status === 429)).toEqual([]);
});

describe("an interrupt", () => {
  test("stops the sending and says which imports go on", async () => {
    const world = await createWorld();
    world.write("products.csv", tidy);
    const running = world.cat("import products.csv --no-progress");
    const accepted = setInterval(() => {
      if (world.requests().some(({ method }) => method === "POST")) running.interrupt();
    }, 1);
    const ran = await running;
    clearInterval(accepted);
    expect(ran.exit).toBe(130);
    expect(ran.stderr).toContain("Stopped: 2 of 2 rows of products.csv were submitted.");
    expect(ran.stderr).toMatch(/2 rows under way at the service: import [0-9A-Z]{26} \(\w+\)/);
    expect(ran.stderr).toContain("interrupted");
  });
});
