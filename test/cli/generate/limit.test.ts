import { readdirSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const look = (reference: string) => `${reference},Amara,studio,full-front`;
const references = ["DRESS-1", "DRESS-2", "DRESS-3", "DRESS-4", "DRESS-5", "DRESS-6"];

test("a dry run with --skip-invalid names the command that queues the valid rows", async () => {
  const { cat, looks } = await generateWorld();
  looks(look("DRESS-1"), look("NOPE"));
  const ran = await cat("tryon looks.csv --skip-invalid --dry-run");
  expect(ran).toMatchObject({ exit: 3, stdout: "" });
  expect(ran.stderr.split("\n").slice(-3)).toEqual([
    "error: looks.csv has 1 invalid row out of 2; nothing was queued",
    "Fix them and run the command again, or remove --dry-run to queue the valid rows.",
    "",
  ]);
  expect((await cat("tryon looks.csv --skip-invalid --yes")).exit).toBe(8);
});

test("cat tryon --limit generates the images of the first rows, then the others with the same command", async () => {
  const { cat, looks, tasks } = await generateWorld();
  looks(...references.map(look));
  const first = await cat("tryon looks.csv --limit 2 --yes");
  expect(first.exit).toBe(0);
  expect(first.stderr.replace(/ in \d+ s/, " in 1 s").replace(/run_\w+/, "RUN")).toContain(
    [
      "Generated 2 images of looks.csv in 1 s.",
      "  4 rows left (--limit)",
      "To save the images, run:",
      "  cat tasks save --run RUN --save images",
      "To generate the other rows, run (nothing is queued twice):",
      "  cat tryon looks.csv --yes\n",
    ].join("\n"),
  );
  expect(tasks()).toHaveLength(2);
  const second = summaryOf((await cat("tryon looks.csv --limit 3 --yes --json")).stdout);
  expect(second).toMatchObject({ total: 3, queued: 1, unchanged: 2, left: 3 });
  const below = await cat("tryon looks.csv --limit 1 --yes");
  expect(below).toMatchObject({
    exit: 2,
    stderr:
      "error: rows after the first row of looks.csv were already queued\nRemove --limit, or use a higher one.\n",
  });
  const rest = summaryOf((await cat("tryon looks.csv --yes --json")).stdout);
  expect(rest).toMatchObject({ total: 6, queued: 3, unchanged: 3, succeeded: 6 });
  expect(rest.left).toBeUndefined();
  expect(tasks()).toHaveLength(6);
  expect((await cat("tryon looks.csv --yes")).stderr).toContain("Nothing to do: 6 images");
});

longTest("limits rows, not their combinations, and checks no others", async () => {
  const { cat, looks, tasks } = await generateWorld();
  looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio|loft,full-front", "UNKNOWN,,,");
  const dry = await cat("tryon looks.csv --matrix --limit 2 --dry-run --json");
  expect(JSON.parse(dry.stdout)).toMatchObject({ total: 2, valid: 2, generations: 3, left: 1 });
  const shown = await cat("tryon looks.csv --matrix --limit 2 --dry-run");
  expect(shown.stderr).toContain(
    "looks.csv: 3 images in 1 request. 1 row left (--limit). Nothing was queued",
  );
  // Of the one row without combinations, the run is that of the complete file.
  expect((await cat("tryon looks.csv --matrix --limit 1 --yes")).exit).toBe(0);
  expect((await cat("tryon looks.csv --matrix --limit 2 --yes")).exit).toBe(0);
  expect(tasks()).toHaveLength(3);
  expect((await cat("tryon looks.csv --matrix --yes")).exit).toBe(3);
  expect((await cat("tryon looks.csv --matrix --yes --skip-invalid")).exit).toBe(8);
  expect(tasks()).toHaveLength(3);
});

test("cat tryon --limit writes the failed file with the last rows only: an image in it could be paid for twice", async () => {
  const { cat, write, read } = await generateWorld();
  const header = "product_reference,subtype,background,angle_shot";
  write(
    "shots.csv",
    `${header}\nNONE,clothing,white,front\nDRESS-1,clothing,white,front\nDRESS-2,clothing,white,front\n`,
  );
  const first = await cat("beautify shots.csv --limit 2 --yes --skip-invalid");
  expect(first.exit).toBe(8);
  expect(first.stderr).not.toContain("shots.failed.csv");
  expect((await cat("beautify shots.csv --yes --skip-invalid")).stderr).toContain("shots.failed.csv");
  expect(read("shots.failed.csv")).toContain("NONE,clothing");
});

/** A command with a limit, and what happens to it. */
const step = fc.record(
  {
    limit: fc.integer({ min: 1, max: 7 }),
    fault: fc.constantFrom(
      { match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 },
      { match: { method: "POST", path: "/v1/tasks" }, drop: "before", times: 20 },
      { match: { method: "POST", path: "/v1/tasks" }, status: 402, times: 1 },
      { match: { method: "GET", path: "/v1/tasks" }, status: 403, times: 1 },
    ),
  },
  { requiredKeys: [] },
);

test("a rejected row before a limit is in no failed file: the next command sends it again", async () => {
  const { cat, looks, fault, folder } = await generateWorld();
  looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
  await fault({ match: { method: "POST", path: "/v1/tasks/tryon" }, times: 1, status: 422 });
  const ran = await cat("tryon looks.csv --yes --limit 1 --skip-invalid");
  expect(ran.exit).not.toBe(0);
  expect(readdirSync(folder).filter((name) => name.includes("failed"))).toEqual([]);
});

test("any sequence of limits and stops queues each image once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 4 }), async (steps) => {
      const { cat, looks, tasks, fault, mock } = await generateWorld();
      looks(...references.map(look));
      let sent = 0;
      for (const { limit, fault: order } of steps) {
        if (order !== undefined) await fault(order);
        const flag = limit === undefined ? "" : `--limit ${limit}`;
        const { exit } = await cat(`tryon looks.csv --yes --json ${flag}`);
        if (limit !== undefined && limit < sent) expect(exit).toBe(2);
        else if (exit === 0) sent = Math.max(sent, Math.min(6, limit ?? 6));
        await fetch(`${mock.baseUrl}/_mock/faults`, { method: "DELETE" });
        expect(tasks().length).toBeLessThanOrEqual(references.length);
      }
      const last = await cat("tryon looks.csv --yes --json");
      expect(last.exit).toBe(0);
      const products = tasks().map((task) => task.product_id);
      expect(new Set(products).size).toBe(6);
      expect(products).toHaveLength(6);
    }),
    { numRuns: repetitions(2, 100) },
  );
});
