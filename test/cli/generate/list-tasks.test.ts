import { describe, expect, test } from "vitest";
import { agoText } from "../../../src/cli/commands/list-tasks.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld } from "./generate-world.ts";
import { reviewWorld } from "./review-world.ts";

/** A world with a task for each of these products, in this order. */
async function withTasks(references: readonly string[], options: Parameters<typeof generateWorld>[0] = {}) {
  const world = await generateWorld(options);
  const angles = ["full-front", "full-back", "half-front"];
  world.looks(...references.map((reference, index) => `${reference},Amara,studio,${angles[index % 3]}`));
  const queued = await world.cat("tryon looks.csv --yes --no-wait --json");
  expect(queued.exit).toBe(0);
  world.clock.advance(125_000);
  /** Runs the command, and gives the requests that it sent too. */
  const asked = async (words: string) => {
    const before = world.requests().length;
    const ran = await world.cat(words);
    const requests = world.requests().slice(before);
    return { ...ran, requests: requests.map(({ path }) => path.replace(/[0-9A-Z]{26}/, "ID")) };
  };
  return { ...world, asked };
}

/** The cells of the table by its heading. */
const table = (text: string) => {
  const [head, ...rows] = text.trimEnd().split("\n");
  const starts = [...head!.matchAll(/\S+/g)].map(({ index }) => index);
  return [head!, ...rows].map((line) =>
    starts.map((start, index) => line.slice(start, starts[index + 1]).trim()),
  );
};

describe("cat tasks list", () => {
  test("shows the references of the products first, when tasks were created, and their IDs last", async () => {
    const world = await withTasks(["DRESS-1", "DRESS-2"]);
    const { stdout, stderr } = await world.asked("tasks list");
    const [first, second] = world.tasks();
    expect(stderr).toBe("");
    expect(table(stdout)).toEqual([
      ["reference", "created", "status", "type", "product_id", "id"],
      ["DRESS-2", "2 min ago", "succeeded", "tryon", second!.product_id, second!.id],
      ["DRESS-1", "2 min ago", "succeeded", "tryon", first!.product_id, first!.id],
    ]);
  });

  longTest("drops the ID of the product first on a terminal", async () => {
    const world = await withTasks(["DRESS-1"], { columns: 80 });
    const { stdout, stderr } = await world.cat("tasks list --no-color", { tty: { stdout: true } });
    expect(table(stdout)).toEqual([
      ["reference", "created", "status", "type", "id"],
      ["DRESS-1", "2 min ago", "succeeded", "tryon", world.tasks()[0]!.id],
    ]);
    expect(stderr).toBe(
      "The terminal is too narrow for: product_id. To see all columns, add --format csv.\n",
    );
  });

  test.each([
    [
      ["DRESS-1", "DRESS-1", "DRESS-1", "DRESS-2"],
      ["/v1/products/ID", "/v1/products/ID"],
    ],
    [["DRESS-1", "DRESS-2", "DRESS-3", "DRESS-4", "DRESS-5"], ["/v1/products?limit=100"]],
  ])("reads each product once, or one list of products: %j", async (references, expected) => {
    const world = await withTasks(references);
    const { stdout, requests } = await world.asked("tasks list");
    expect(table(stdout).map(([reference]) => reference)).toEqual([
      "reference",
      ...[...references].reverse(),
    ]);
    expect(requests.slice(1)).toEqual(expected);
  });

  longTest("reads products that are not on that page one by one", async () => {
    const references = ["DRESS-1", "DRESS-2", "DRESS-3", "DRESS-4"];
    const world = await withTasks(references);
    const rows = Array.from(
      { length: 98 },
      (_, index) => `NEW-${index},New,https://cdn.example.com/${index}.jpg`,
    );
    world.write("new.csv", ["reference,name,images", ...rows, ""].join("\n"));
    expect(await world.cat("import new.csv")).toMatchObject({ exit: 0 });
    const { stdout, requests } = await world.asked("tasks list");
    expect(table(stdout).map(([reference]) => reference)).toEqual([
      "reference",
      ...[...references].reverse(),
    ]);
    // The two newest of the six dresses are DRESS-5 and DRESS-6.
    expect(requests.slice(1)).toEqual(["/v1/products?limit=100", ...Array(4).fill("/v1/products/ID")]);
  });

  test.each(
    sampled(
      [
        ["a key without products:read", 403, ""],
        ["a deleted product", 404, ""],
        [
          "a service that fails",
          500,
          "The service failed; retrying in 2 s.\nThe service failed; retrying in 4 s.\n",
        ],
      ],
      1,
    ),
  )("leaves the references empty, without an error: %s", async (_, status, waits) => {
    const world = await withTasks(["DRESS-1"]);
    await world.fault({ match: { path: "/v1/products" }, status });
    const { exit, stdout, stderr } = await world.asked("tasks list");
    const [task] = world.tasks();
    expect([exit, stderr]).toEqual([0, waits]);
    expect(table(stdout)[1]).toEqual(["", "2 min ago", "succeeded", "tryon", task!.product_id, task!.id]);
  });

  test.each(sampled(["--json", "--format csv", "--format json", "--fields id,status"], 1))(
    "reads no product with %s",
    async (flags) => {
      const world = await withTasks(["DRESS-1"]);
      expect((await world.asked(`tasks list ${flags}`)).requests).toEqual(["/v1/tasks?limit=26"]);
    },
  );

  longTest("has the fields of the service in CSV, in the same order", async () => {
    const world = await withTasks(["DRESS-1"]);
    const csv = await world.cat("tasks list --format csv");
    expect(csv.stdout.split("\n")[0]).toMatch(/^id,type,status,product_id,created_at,/);
    expect(csv.stdout).not.toContain("reference");
  });
});

test.each([
  [30_000, "just now"],
  [-5_000, "just now"],
  [3_599_999, "59 min ago"],
  [47 * 3_600_000, "47 h ago"],
  [48 * 3_600_000, "2 days ago"],
])("a task created %i ms before was created %s", (ms, text) => {
  expect(agoText("2026-01-05T09:00:00Z", Date.parse("2026-01-05T09:00:00Z") + ms)).toBe(text);
  expect(agoText("never", ms)).toBe("never");
});

describe("cat tasks list --decision", () => {
  /** Four images of which the first is approved and the second rejected, and a task in progress. */
  const reviewed = async () => {
    const world = await reviewWorld(4);
    world.review("decisions.csv", ["approve"], ["reject", "collar"], [""], [""]);
    expect(await world.cat("tasks review decisions.csv")).toMatchObject({ exit: 0 });
    world.looks("DRESS-5,Amara,studio,full-front");
    expect((await world.cat("tryon looks.csv --yes --no-wait")).exit).toBe(0);
    const idsOf = async (flags: string) =>
      (await world.cat(`tasks list ${flags} --json`)).stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => world.tasks().findIndex(({ id }) => id === JSON.parse(line).id));
    return { ...world, idsOf };
  };

  test("lists the images that a review approved, rejected, or has not seen", async () => {
    const world = await reviewed();
    expect(await world.idsOf("--decision approved")).toEqual([0]);
    expect(await world.idsOf("--decision rejected")).toEqual([1]);
    expect(await world.idsOf("--decision not-reviewed")).toEqual([3, 2]);
    expect(await world.idsOf("--decision not-reviewed --limit 1")).toEqual([3]);
    expect(await world.idsOf("--decision not-reviewed --status queued")).toEqual([]);
  });

  longTest("says when no image has the decision, and when there are more than shown", async () => {
    const world = await reviewed();
    expect((await world.cat("tasks list --decision not-reviewed --limit 1")).stderr).toBe(
      "Showing the first 1. To see more, add --limit N or --all.\n",
    );
    expect(await world.cat("tasks list --decision rejected --product DRESS-1")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "No tasks found. To record decisions: cat tasks review DECISIONS\n",
    });
  });
});
