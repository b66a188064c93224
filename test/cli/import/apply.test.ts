import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";
import { numberedRows } from "../imports/imports-world.ts";

const url = "https://cdn.example.com";
const first = `reference,name,images
A,Dress,${url}/a.jpg
B,Shirt,${url}/b.jpg
C,Belt,${url}/c.jpg
`;
const second = `${first.replace("Dress", "Red dress").replace("Belt", "Blue belt")}D,Hat,${url}/d.jpg\n`;

async function planned() {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", first);
  expect((await world.cat("import a.csv")).exit).toBe(0);
  world.write("a.csv", second);
  const plan = await world.cat("import a.csv --plan plan.ndjson");
  expect(
    plan.stderr,
  ).toBe(`Plan: 1 to create, 2 to change (2 names), 1 photo to add, 1 unchanged; 3 requests, about 1 min.
To apply it, run: cat import --apply plan.ndjson
`);
  return world;
}

type World = Awaited<ReturnType<typeof planned>>;

const named = (world: World) =>
  Object.fromEntries(world.products().map(({ reference, name }) => [reference, name]));
const writes = (world: World) => world.requests().filter(({ method }) => method !== "GET").length;

test("--apply sends what the plan shows, in the run of the plan, and nothing the second time", async () => {
  const world = await planned();
  const ran = await world.cat("import --apply plan.ndjson --json");
  const { run_id } = JSON.parse(ran.stdout);
  expect(run_id).toBe(JSON.parse(world.read("plan.ndjson").split("\n")[0]!).id);
  expect([ran.exit, named(world)]).toEqual([0, { A: "Red dress", B: "Shirt", C: "Blue belt", D: "Hat" }]);
  const before = writes(world);
  const again = await world.cat("import --apply plan.ndjson");
  expect(again.exit).toBe(0);
  expect(again.stderr).toMatch(
    /^The plan was applied in the run of 2026-01-05T09:00:\d\dZ; nothing to do\.\n$/,
  );
  const forPrograms = await world.cat("import --apply plan.ndjson --json");
  expect({ ...forPrograms, stdout: JSON.parse(forPrograms.stdout) }).toEqual({
    exit: 0,
    stdout: expect.objectContaining({
      run_id,
      total: 4,
      invalid: 0,
      submitted: 0,
      unchanged: 4,
      imports: [],
    }),
    stderr: "",
  });
  expect(Object.keys(JSON.parse(forPrograms.stdout))).toEqual(Object.keys(JSON.parse(ran.stdout)));
  expect(writes(world)).toBe(before);
});

longTest.each(["", " --json"])("a plan that was applied before is no error of reports: %j", async (json) => {
  const world = await planned();
  await world.cat("import --apply plan.ndjson");
  const again = await world.cat(`import --apply plan.ndjson --report junit.xml${json}`);
  expect([again.exit, world.read("junit.xml")]).toEqual([
    0,
    expect.stringContaining('failures="0" errors="0"'),
  ]);
});

test("rows whose product changed since the plan are skipped, listed and in the failed file", async () => {
  const world = await planned();
  await world.cat("products update A --name Coat");
  const ran = await world.cat("import --apply plan.ndjson");
  expect({ ...ran, stderr: ran.stderr.replace(/run_\w+/, "RUN") }).toEqual({
    exit: 8,
    stdout: "",
    stderr: `1 row changed at the service since the plan was made: A. It is skipped.
Imported 3 of 4 rows from a.csv in 5.0 s: 1 created, 1 updated, 1 unchanged.
  1 row failed
    a.csv:2  A  the product changed since the plan was made: plan this row again
To undo it: cat imports undo RUN
Failed rows are in a.failed.csv, with the reasons. Fix them there, then run:
  cat import a.failed.csv --plan
`,
  });
  expect(named(world)).toEqual({ A: "Coat", B: "Shirt", C: "Blue belt", D: "Hat" });
  expect(world.read("a.failed.csv")).toContain("A,Red dress,");
  const sent = writes(world);
  const again = await world.cat("import --apply plan.ndjson --json");
  expect([again.exit, JSON.parse(again.stdout)]).toMatchObject([8, { created: 1, updated: 1, failed: 1 }]);
  expect(writes(world)).toBe(sent);
});

longTest.each([
  ["a product that was deleted", "products delete C --yes", "C"],
  ["a product that was created", `products create --reference D --name Hat --image p.png:front`, "D"],
])("--apply skips %s", async (_, change, reference) => {
  const world = await planned();
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  world.write("p.png", Buffer.from(png, "base64"));
  expect((await world.cat(change)).exit).toBe(0);
  const before = world.products().find((product) => product.reference === reference);
  const ran = await world.cat("import --apply plan.ndjson");
  expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
    8,
    `1 row changed at the service since the plan was made: ${reference}. It is skipped.`,
  ]);
  expect(world.products().find((product) => product.reference === reference)).toEqual(before);
});

longTest.each(["", " --strict"])(
  "--apply keeps a product that was unchanged and is renamed: %j",
  async (strict) => {
    const world = await planned();
    expect((await world.cat("products update B --name Coat")).exit).toBe(0);
    const ran = await world.cat(`import --apply plan.ndjson${strict}`);
    expect({ ...ran, stderr: ran.stderr.replace(/run_\w+/, "RUN") }).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Imported 4 rows from a.csv in 5.0 s: 1 created, 2 updated, 1 kept.\n" +
        "  1 product was changed at the service since; kept (B)\n" +
        "To undo it: cat imports undo RUN\n",
    });
    expect(named(world)).toEqual({ A: "Red dress", B: "Coat", C: "Blue belt", D: "Hat" });
  },
);

test("--strict sends nothing if a product changed", async () => {
  const world = await planned();
  await world.cat("products update A --name Coat");
  const before = writes(world);
  const ran = await world.cat("import --apply plan.ndjson --strict");
  expect(ran).toEqual({
    exit: 3,
    stdout: "",
    stderr: `error: 1 row changed at the service since the plan was made: A; nothing was sent (--strict)
Plan again, or remove --strict to skip these rows.
`,
  });
  expect(writes(world)).toBe(before);
});

test.each(sampled([" --strict", ""], 1))(
  "a plan that sent nothing is applied again, with the same result, until its product is as planned: %j",
  async (strict) => {
    const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
    world.write("a.csv", first);
    await world.cat("import a.csv");
    world.write("a.csv", first.replace("Dress", "Red dress"));
    await world.cat("import a.csv --plan plan.ndjson");
    await world.cat("products update A --name Coat");
    const before = writes(world);
    const ran = await world.cat(`import --apply plan.ndjson${strict}`);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      strict === "" ? 8 : 3,
      expect.stringContaining("1 row changed at the service since the plan was made: A"),
    ]);
    const again = await world.cat(`import --apply plan.ndjson${strict}`);
    expect({ ...again, stderr: again.stderr.replace("failed-2", "failed") }).toEqual(ran);
    expect(writes(world)).toBe(before);
    await world.cat("products update A --name Dress");
    const last = await world.cat(`import --apply plan.ndjson${strict}`);
    expect([last.exit, named(world).A]).toEqual([0, "Red dress"]);
  },
);

test("a plan that was stopped is resumed, and sends nothing twice", async () => {
  const world = await planned();
  const fault = (order: object | null) =>
    fetch(`${world.mock.baseUrl}/_mock/faults`, {
      method: order === null ? "DELETE" : "POST",
      headers: { "content-type": "application/json" },
      ...(order !== null && { body: JSON.stringify(order) }),
    });
  await fault({ match: { method: "PATCH" }, drop: "after", times: 20 });
  const stopped = await world.cat("import --apply plan.ndjson");
  expect(stopped.exit).toBe(7);
  expect(stopped.stderr).toContain("  cat import --apply plan.ndjson\n");
  await fault(null);
  const ran = await world.cat("import --apply plan.ndjson --json");
  expect(ran.exit).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ created: 1, updated: 2, unchanged: 1, failed: 0 });
  expect(named(world)).toEqual({ A: "Red dress", B: "Shirt", C: "Blue belt", D: "Hat" });
  expect(world.products().map(({ images }) => images.length)).toEqual([1, 1, 1, 1]);
});

test("a plan is shown with --dry-run however old it is, without a request", async () => {
  const world = await planned();
  await world.cat("import --apply plan.ndjson");
  world.write("a.csv", "something else");
  const before = world.requests().length;
  const ran = await world.cat("import --apply plan.ndjson --dry-run");
  expect(ran.exit).toBe(0);
  expect(ran.stdout.split("\n")[1]).toBe('2     A          change  name: "Dress" -> "Red dress"');
  expect(ran.stderr).toMatch(/^Plan: 1 to create.*\nPlanned at .* Nothing was sent \(--dry-run\)\.\n$/);
  expect(world.requests()).toHaveLength(before);
});

test("a plan of a file with invalid rows exits with 8 also where --dry-run shows it", async () => {
  const world = await planned();
  world.write("a.csv", `reference,name,images\nA,Coat,https://cdn.example.com/a.jpg\nX,,y\n`);
  const made = await world.cat("import a.csv --skip-invalid --plan invalid.ndjson");
  const shown = await world.cat("import --apply invalid.ndjson --dry-run");
  expect([made.exit, shown.exit, shown.stdout]).toEqual([8, 8, made.stdout]);
  expect(shown.stderr).toMatch(
    /^Plan: 1 to change .*, 1 invalid; .*\nPlanned at .* Nothing was sent \(--dry-run\)\.\n$/,
  );
  const json = await world.cat("import --apply invalid.ndjson --dry-run --json");
  expect([json.exit, JSON.parse(json.stdout)]).toMatchObject([8, { total: 2, invalid: 1, change: 1 }]);
});

const lines = (world: World) => world.read("plan.ndjson").trimEnd().split("\n");

test.each<[string, (world: World) => void, number, string, object?]>(
  sampled([
    [
      "edited",
      (world) => world.write("plan.ndjson", world.read("plan.ndjson").replace("Blue", "Teal")),
      3,
      "plan.ndjson was edited or cut short; nothing was sent",
    ],
    [
      "cut short after a line",
      (world) => world.write("plan.ndjson", `${lines(world).slice(0, 3).join("\n")}\n`),
      3,
      "plan.ndjson was edited or cut short; nothing was sent",
    ],
    [
      "cut short within its first line",
      (world) => world.write("plan.ndjson", lines(world)[0]!.slice(0, 40)),
      3,
      "plan.ndjson is not a plan",
    ],
    [
      "of its first line alone",
      (world) => world.write("plan.ndjson", lines(world)[0]!),
      3,
      "plan.ndjson was edited or cut short; nothing was sent",
    ],
    [
      "without a row",
      (world) => world.write("plan.ndjson", `${lines(world).toSpliced(2, 1).join("\n")}\n`),
      3,
      "plan.ndjson was edited or cut short; nothing was sent",
    ],
    ["empty", (world) => world.write("plan.ndjson", ""), 3, "plan.ndjson is not a plan"],
    ["a CSV file", (world) => world.write("plan.ndjson", first), 3, "plan.ndjson is not a plan"],
    [
      "of a newer version",
      (world) => world.write("plan.ndjson", world.read("plan.ndjson").replace('"plan":1', '"plan":2')),
      3,
      "plan.ndjson is a plan of a newer version of this program",
    ],
    [
      "of another file",
      (world) => world.write("a.csv", first),
      3,
      "a.csv is not the file that was planned: its content differs",
    ],
    [
      "of another account",
      () => {},
      3,
      "the plan was made with another API key, which may be of another organization",
      { CAT_API_KEY: "ak_mock_other" },
    ],
  ]),
)("a plan that is %s is rejected, and nothing is sent", async (_, change, exit, message, env = {}) => {
  const world = await planned();
  change(world);
  const before = writes(world);
  const ran = await world.cat("import --apply plan.ndjson", { env: env as Record<string, string> });
  expect([ran.exit, ran.stdout, ran.stderr.split("\n")[0]]).toEqual([exit, "", `error: ${message}`]);
  expect(writes(world)).toBe(before);
});

test("a plan that is missing, and flags that it keeps itself, are wrong command lines", async () => {
  const world = await createWorld();
  const errors = [];
  for (const line of [
    "--apply none.ndjson",
    "--apply plan.ndjson a.csv",
    "--apply plan.ndjson --mode create",
    "--apply plan.ndjson --fresh",
    "a.csv --strict",
  ]) {
    const { exit, stderr } = await world.cat(`import ${line}`);
    errors.push([exit, stderr.split("\n")[0]]);
  }
  expect(errors).toEqual([
    [2, "error: cannot read the plan none.ndjson: no such file or folder"],
    [2, "error: --apply cannot be used with FILE: the plan names its file"],
    [2, "error: --mode cannot be used with --apply"],
    [2, "error: --fresh cannot be used with --apply"],
    [2, "error: --strict needs --apply"],
  ]);
});

longTest("a product that exists meanwhile is skipped in mode skip_existing, as by the import", async () => {
  const world = await planned();
  await world.cat("import a.csv --mode skip_existing --plan plan.ndjson");
  await world.cat("import a.csv");
  const ran = await world.cat("import --apply plan.ndjson --json");
  expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([0, { created: 0, skipped: 4, failed: 0 }]);
});

test("a plan that was applied and undone is not taken for applied", async () => {
  const world = await planned();
  await world.cat("import --apply plan.ndjson");
  await world.cat("imports undo last --yes");
  const sent = writes(world);
  expect(await world.cat("import --apply plan.ndjson")).toEqual({
    exit: 3,
    stdout: "",
    stderr: "error: the plan was applied, and undone since\nPlan again, and apply that plan.\n",
  });
  expect(writes(world)).toBe(sent);
});

longTest("a product that others change while many fields are changed is skipped", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  const rows = (name: string) => numberedRows(61, name);
  world.write("a.csv", rows("Good"));
  await world.cat("import a.csv");
  world.write("a.csv", rows("New"));
  await world.cat("import a.csv --plan plan.ndjson");
  world.mock.faults.add({ match: { method: "PATCH" }, delay_ms: 60_000, times: 1 });
  const sent = writes(world);
  const running = world.cat("import --apply plan.ndjson --concurrency 1");
  await until(() => writes(world) > sent);
  await world.cat("products update R60 --name Coat");
  world.clock.advance(60_000);
  expect((await running).exit).toBe(8);
  expect(world.products().map(({ name }) => name)).toEqual([...Array(60).fill("New"), "Coat"]);
  expect(world.read("a.failed.csv")).toContain("R60,New,");
});
