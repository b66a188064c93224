import { describe, expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const rows = "reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\n";
const noCounts = { total: 0, valid: 0, invalid: 0 };
const nothingSent = {
  run_id: null,
  mode: "upsert",
  submitted: 0,
  succeeded: 0,
  partial: 0,
  failed: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  unchanged: 0,
  kept: 0,
  conflicts: 0,
  deleted: 0,
  photos: { added: 0, replaced: 0, removed: 0, moved: 0, adopted: 0 },
  not_applied: { emptied: 0, removed: 0 },
  known_failures: 0,
  imports: [],
  failed_file: null,
  results_file: null,
  duration_ms: 0,
};
const { run_id: _, mode: __, imports: ___, failed_file: ____, results_file: _____, ...sums } = nothingSent;

/** A world with a file of rows, and a workbook and a plan that are neither. */
async function rejectingWorld() {
  const world = await createWorld();
  world.write("a.csv", rows);
  world.write("bad.xlsx", "PK\x03\x04 cut off");
  world.write("bad.ndjson", `{"plan":1}\n{}\n`);
  return world;
}

describe("with --json, an import that is rejected has its object on stdout", () => {
  test.each([
    ["bad.xlsx", "damaged_workbook", { file: "bad.xlsx", problems: [], ...noCounts, ...nothingSent }],
    ["bad.xlsx --dry-run", "damaged_workbook", { file: "bad.xlsx", problems: [], ...noCounts }],
    ["bad.xlsx --plan", "damaged_workbook", { file: "bad.xlsx", problems: [], ...noCounts }],
    ["a.csv bad.xlsx", "damaged_workbook", { files: [], ...noCounts, ...sums }],
    ["a.csv bad.xlsx --dry-run", "damaged_workbook", { files: [], ...noCounts }],
    ["--apply a.csv", "not_a_plan", { file: "a.csv", problems: [], ...noCounts, ...nothingSent }],
    ["--apply bad.ndjson", "damaged_plan", { file: "bad.ndjson", problems: [], ...noCounts, ...nothingSent }],
    ["--apply a.csv --dry-run", "not_a_plan", { file: "a.csv", problems: [], ...noCounts }],
  ])("cat import %s: %s", async (line, code, expected) => {
    const world = await rejectingWorld();
    const ran = await world.cat(`import ${line} --json`);
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stdout)).toEqual(expected);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code, exit: 3 } });
    expect(world.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test.each([
    [
      "of other rows",
      "foreign_plan",
      (world: Awaited<ReturnType<typeof rejectingWorld>>) =>
        world.write("a.csv", rows.replace("Dress", "Coat")),
    ],
    [
      "that was undone since",
      "plan_undone",
      async (world: Awaited<ReturnType<typeof rejectingWorld>>) => {
        const { stdout } = await world.cat("import --apply plan.ndjson --json");
        expect((await world.cat(`imports undo ${JSON.parse(stdout).run_id} --yes`)).exit).toBe(0);
      },
    ],
  ] as const)("a plan %s", async (_, code, change) => {
    const world = await rejectingWorld();
    expect((await world.cat("import a.csv --plan plan.ndjson")).exit).toBe(0);
    await change(world);
    const ran = await world.cat("import --apply plan.ndjson --json");
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stdout)).toEqual({
      file: "a.csv",
      problems: [],
      total: 1,
      valid: 1,
      invalid: 0,
      ...nothingSent,
      duration_ms: expect.any(Number),
    });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code, exit: 3 } });
  });

  test("a plan whose products changed since, with --strict", async () => {
    const world = await rejectingWorld();
    expect((await world.cat("import a.csv")).exit).toBe(0);
    world.write("a.csv", rows.replace("Dress", "Coat"));
    expect((await world.cat("import a.csv --plan plan.ndjson")).exit).toBe(0);
    expect((await world.cat("products update A --name Hat")).exit).toBe(0);
    const ran = await world.cat("import --apply plan.ndjson --strict --json");
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({ file: "a.csv", total: 1, submitted: 0, imports: [] });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: "product_changed", exit: 3 } });
  });

  test("a file that is not there is a mistake of the command line, without an object", async () => {
    const world = await rejectingWorld();
    const ran = await world.cat("import none.csv --json");
    expect([ran.exit, ran.stdout]).toEqual([2, ""]);
  });
});
