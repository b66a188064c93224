import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { findOutput } from "../../../src/cli/reference/outputs.ts";
import { reviewWorld } from "./review-world.ts";

const noRun = { run_id: null, queued: 0, unchanged: 0, succeeded: 0, failed: 0, tasks: [], duration_ms: 0 };
const noDecisions = { approved: 0, rejected: 0, undecided: 0, reversed: 0, later: 0 };

test.each([
  ["tasks review", "tasks review decisions.csv", noDecisions],
  ["tryon", "tryon --rerun decisions.csv --yes", noRun],
  ["tryon", "tryon --rerun decisions.csv --dry-run", { generations: 0, batches: 0 }],
  ["tryon", "tryon looks.csv --approved decisions.csv --save out --yes", noRun],
])(
  "with --json, a rejected review has one object of the schema of %s on stdout: cat %s",
  async (name, line, fields) => {
    const world = await reviewWorld();
    world.review("decisions.csv", ["approve"], ["perhaps" as "reject"], [""]);
    const ran = await world.cat(`${line} --json`);
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: "invalid_decision", exit: 3 } });
    const printed = JSON.parse(ran.stdout);
    const message = '"perhaps" is not approve or reject';
    expect(printed).toEqual({
      ...{ file: "decisions.csv", total: 3, valid: 2, invalid: 1, ...fields },
      problems: [{ line: 3, param: "decision", code: "invalid_decision", message }],
    });
    const schemas = new Ajv2020({ strict: false });
    expect(schemas.validate(findOutput(name).schema, printed), schemas.errorsText()).toBe(true);
  },
);

test("with --json, a rejected list of products has an object of the schema of cat export", async () => {
  const world = await reviewWorld();
  world.write("empty.csv", "");
  const ran = await world.cat("export --manifest --products-from empty.csv --json");
  expect(ran.exit).toBe(3);
  const schemas = new Ajv2020({ strict: false, formats: { uri: true } });
  expect(schemas.validate(findOutput("export").schema, JSON.parse(ran.stdout)), schemas.errorsText()).toBe(
    true,
  );
});
