import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const noCounts = { problems: [], total: 0, valid: 0, invalid: 0 };
const nothingQueued = {
  run_id: null,
  queued: 0,
  unchanged: 0,
  succeeded: 0,
  failed: 0,
  tasks: [],
  duration_ms: expect.any(Number),
};
const decisions =
  "line,task_id,status,product_id,product_reference,model_id,background,angle_shot,decision,note\n";

test.each([
  ["tryon bad.xlsx", "damaged_workbook", { file: "bad.xlsx", ...noCounts, ...nothingQueued }],
  ["beautify bad.xlsx", "damaged_workbook", { file: "bad.xlsx", ...noCounts, ...nothingQueued }],
  [
    "tryon bad.xlsx --dry-run",
    "damaged_workbook",
    { file: "bad.xlsx", ...noCounts, generations: 0, batches: 0 },
  ],
  ["tryon --rerun looks.csv", "nothing_rejected", { file: "looks.csv", ...noCounts, ...nothingQueued }],
])("with --json, a rejected run has its object on stdout: cat %s", async (line, code, expected) => {
  const world = await createWorld();
  world.write("bad.xlsx", "PK\x03\x04 cut off");
  world.write("looks.csv", decisions);
  const ran = await world.cat(`${line} --yes --json`);
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code, exit: 3 } });
  expect(ran.exit).toBe(3);
  expect(JSON.parse(ran.stdout)).toEqual(expected);
  expect(world.requests().filter(({ method }) => method !== "GET")).toEqual([]);
});
