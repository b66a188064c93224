import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const first = `reference,name,description,sex,images
A,Dress,,female,https://cdn.example.com/a.jpg
B,Shirt,cotton,,https://cdn.example.com/b.jpg
C,Belt,,,https://cdn.example.com/c.jpg
`;

/** A name is overwritten, another product gets a photo, one is as before, and one is new. */
const second = `reference,name,description,sex,images
A,cdn.example.com,silk,female,https://cdn.example.com/a.jpg
B,Shirt,cotton,,https://cdn.example.com/b.jpg|photos/b2.png
C,Belt,,,https://cdn.example.com/c.jpg
D,Hat,,,https://cdn.example.com/d.jpg
`;

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function imported() {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", first);
  world.write("photos/b2.png", png);
  expect((await world.cat("import a.csv")).exit).toBe(0);
  world.write("a.csv", second);
  return world;
}

type World = Awaited<ReturnType<typeof imported>>;

const writesSince = (world: World, before: number) =>
  world
    .requests()
    .slice(before)
    .filter(({ method }) => method !== "GET");

test("--plan shows what would change, and sends nothing but GETs", async () => {
  const world = await imported();
  const before = world.requests().length;
  expect(await world.cat("import a.csv --plan")).toEqual({
    exit: 0,
    stdout: `line  reference  action      changes
2     A          change      name: "Dress" -> "cdn.example.com", description: (empty) -> "silk"
3     B          add photos  +1 photo
5     D          create      1 photo
`,
    stderr:
      "Plan: 1 to create, 1 to change (1 name, 1 description), 2 photos to add, 1 unchanged; 2 requests, 1 upload, about 1 min.\n",
  });
  expect(world.requests().length).toBeGreaterThan(before);
  expect(writesSince(world, before)).toEqual([]);
  const planned = world.requests().length;
  expect((await world.cat("import a.csv")).exit).toBe(0);
  expect(writesSince(world, planned).map(({ method, path }) => `${method} ${path.split("/")[2]}`)).toEqual([
    "POST images",
    "POST imports?mode=upsert&on_image_error=skip",
    "PATCH products",
  ]);
});

longTest("a terminal shows the actions of a plan in colors, and the table fits", async () => {
  const world = await imported();
  const { stdout } = await world.cat("import a.csv --plan", { tty: true, env: { FORCE_COLOR: "1" } });
  const lines = stdout.trimEnd().split("\n");
  expect(lines[1]).toMatch(/^\x1b\[33m2 {5}A .*\x1b\[39m$/);
  expect(lines[3]).toMatch(/^\x1b\[32m5 /);
  for (const line of lines) expect(line.replace(/\x1b\[\d+m/g, "").length).toBeLessThanOrEqual(80);
});

test("--plan-format markdown is for a pull request, where no value is markup", async () => {
  const world = await imported();
  world.write("a.csv", first.replace("A,Dress", "A,@team | `x`"));
  const { stdout, stderr } = await world.cat("import a.csv --plan --plan-format markdown");
  expect(stderr).toBe("");
  expect(stdout).toBe(`| line | reference | action | changes |
|--:|---|---|---|
| 2 | \`A\` | change | name: \`Dress\` -> \`\` @team \\| \`x\` \`\` |

**Plan: 1 to change (1 name), 2 unchanged; 1 request, about 1 min.**
`);
});

test("--plan FILE writes every row, and --json prints the same lines", async () => {
  const world = await imported();
  expect((await world.cat("import a.csv --plan plan.ndjson")).exit).toBe(0);
  const lines = world
    .read("plan.ndjson")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ plan: 1, file: "a.csv", base_url: world.mock.baseUrl });
  expect(lines[2]).toEqual({
    line: 3,
    reference: "B",
    action: "add_photos",
    fields: {},
    photos: ["photos/b2.png"],
    seen: {
      id: world.products()[1]!.id,
      name: "Shirt",
      description: "cotton",
      sex: null,
      images: world.products()[1]!.images.map(({ id }) => id),
    },
  });
  expect(lines.at(-1)).toMatchObject({
    total: 4,
    create: 1,
    change: 1,
    add_photos: 1,
    unchanged: 1,
    requests: 2,
  });
  const { stdout } = await world.cat("import a.csv --plan --json");
  expect(stdout.trimEnd().split("\n").slice(1, -1)).toEqual(
    world.read("plan.ndjson").trimEnd().split("\n").slice(1, -1),
  );
});

test("--plan never replaces a file that is not a plan", async () => {
  const world = await imported();
  world.write("other.csv", first);
  const ran = await world.cat("import a.csv --plan other.csv");
  expect(ran).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: cannot write --plan other.csv: the file exists and is not a plan
Choose another file, for example --plan plan.ndjson.
`,
  });
  expect(world.read("other.csv")).toBe(first);
  expect((await world.cat("import a.csv --plan plan.ndjson")).exit).toBe(0);
  expect((await world.cat("import a.csv --plan plan.ndjson")).exit).toBe(0);
});

test("a file that the check rejects has no plan", async () => {
  const world = await imported();
  world.write("a.csv", "reference,name,images\nA,,https://cdn.example.com/a.jpg\n");
  const before = world.requests().length;
  const ran = await world.cat("import a.csv --plan plan.ndjson");
  expect([ran.exit, ran.stdout]).toEqual([3, ""]);
  expect(world.requests()).toHaveLength(before);
  expect(existsSync(join(world.folder, "plan.ndjson"))).toBe(false);
});

test("--plan exits with 6 while an earlier import has no results", async () => {
  const world = await imported();
  expect((await world.cat("import a.csv --no-wait")).exit).toBe(0);
  const ran = await world.cat("import a.csv --plan");
  expect([ran.exit, ran.stderr]).toEqual([
    6,
    `error: an earlier import of a.csv is unfinished; its rows have no results yet
Import a.csv again with the same flags to finish it, then plan again.
`,
  ]);
});

longTest("mode skip_existing and create plan existing products as skipped and failing", async () => {
  const world = await imported();
  const skipped = await world.cat("import a.csv --mode skip_existing --plan");
  expect(skipped.stderr).toBe(
    "Plan: 1 to create, 1 photo to add, 3 to skip; 1 request, 1 upload, about 1 min.\n",
  );
  const failing = await world.cat("import a.csv --mode create --plan");
  expect([failing.exit, failing.stderr]).toEqual([
    8,
    "Plan: 1 to create, 1 photo to add, 3 to fail; 1 request, 1 upload, about 1 min.\n",
  ]);
});

longTest("a plan of standard input says how it is applied", async () => {
  const world = await imported();
  const rows = { stdin: second };
  const ran = await world.cat("import - --format csv --plan plan.ndjson", rows);
  expect(ran.stderr).toContain("To apply it, pipe the same rows to: cat import --apply plan.ndjson\n");
  expect(await world.cat("import --apply plan.ndjson", rows)).toMatchObject({ exit: 0 });
  expect(world.products()).toHaveLength(4);
});

test.each(
  sampled(
    [
      ["50%", "3 of 4 rows (75%) would be sent, more than --max-changes 50%", "75%"],
      ["2", "3 of 4 rows would be sent, more than --max-changes 2", "3"],
    ],
    1,
  ),
)("--max-changes %s stops an import before anything is sent", async (most, message, enough) => {
  const world = await imported();
  const before = world.requests().length;
  for (const plan of ["", " --plan"]) {
    const ran = await world.cat(`import a.csv${plan} --max-changes ${most}`);
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain(
      `error: ${message}; nothing was sent\nCheck them with --plan. If they are right, use --max-changes ${enough}.\n`,
    );
    expect(writesSince(world, before)).toEqual([]);
  }
  const ran = await world.cat(`import a.csv --json --max-changes ${most}`);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    problems: [],
    total: 4,
    valid: 4,
    run_id: null,
    submitted: 0,
  });
  expect((await world.cat(`import a.csv --max-changes ${enough}`)).exit).toBe(0);
  expect(world.products()).toHaveLength(4);
});

test("a file whose ledger is lost changes nothing where its photos cannot be compared", async () => {
  const world = await imported();
  world.write("a.csv", first);
  const before = world.requests().length;
  const ran = await world.cat("import a.csv --max-changes 30% --ledger new.db --json");
  expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([8, { submitted: 0, conflicts: 3 }]);
  expect(writesSince(world, before)).toEqual([]);
});

longTest("cat import --plan exits with 8 for invalid rows that are skipped, as the import does", async () => {
  const world = await createWorld({ mock: { demo: 0 } });
  world.write("a.csv", "reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\n,Hat,b\n");
  for (const line of ["import a.csv --skip-invalid --plan", "import a.csv --skip-invalid"])
    expect(await world.cat(line)).toMatchObject({ exit: 8 });
  const { stderr } = await world.cat("import a.csv --skip-invalid --plan --json");
  expect(JSON.parse(stderr).error.message).toBe("1 of 2 rows of a.csv would not be imported");
});

test.each(["", "--quiet", "--json"])(
  "a JUnit report of a plan says that rows would fail: %j",
  async (flag) => {
    const world = await createWorld({ mock: { demo: 1 } });
    const { reference } = world.products()[0]!;
    world.write("a.csv", `reference,name,images\n${reference},Dress,https://cdn.example.com/a.jpg\n`);
    const ran = await world.cat(`import a.csv --mode create --plan --report junit.xml ${flag}`.trim());
    expect(ran.exit).toBe(8);
    expect(world.read("junit.xml")).toContain(
      '<failure type="reference_already_exists" message="BAG-0001: reference: the product exists already">',
    );
  },
);

test("--batch N counts in the plan as in the import after it", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  const rows = Array.from({ length: 5 }, (_, at) => `NEW-${at},Dress,https://cdn.example.com/${at}.jpg\n`);
  world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  const plan = await world.cat("import a.csv --plan --batch 2");
  expect(plan.stderr).toContain("Plan: 5 to create, 5 photos to add; 3 requests");
  const { exit, stdout } = await world.cat("import a.csv --batch 2 --json");
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).imports.map(({ rows }: { rows: number }) => rows)).toEqual([2, 2, 1]);
});

test.each(["0", "2001", "1.5", "many"])(
  "--batch %s is exit 2, because a request takes 1 to 2,000 rows",
  async (n) => {
    const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
    world.write("a.csv", "reference,name,images\n");
    expect(await world.cat(`import a.csv --batch ${n}`)).toMatchObject({ exit: 2, stdout: "" });
  },
);

test("a row with a new photo does not change fields that others changed and it did not edit", async () => {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", first);
  expect((await world.cat("import a.csv")).exit).toBe(0);
  expect((await world.cat("products update B --description wool")).exit).toBe(0);
  world.write("a.csv", first.replace("b.jpg", "b.jpg|https://cdn.example.com/b2.jpg"));
  expect(await world.cat("import a.csv --plan")).toEqual({
    exit: 0,
    stdout: "line  reference  action      changes\n3     B          add photos  +1 photo\n",
    stderr: "Plan: 1 photo to add, 2 unchanged; 1 request, about 1 min.\n",
  });
  expect((await world.cat("import a.csv")).exit).toBe(0);
  const { stdout } = await world.cat("products get B --json");
  expect(JSON.parse(stdout)).toMatchObject({ description: "wool" });
});
