import { expect, test } from "vitest";
import { importWorld } from "./run-import.ts";

const hosts = ["https://cdn.invalid", "https://other.invalid"];

test("photos of a host that is not found are not fetched one by one: their rows are conflicts", async () => {
  const world = await importWorld();
  const rows = Array.from({ length: 60 }, (_, row) => `R-${row},Dress,${hosts[row % 2]}/${row}.jpg\n`);
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  await world.import("a.csv");
  const { summary } = await world.import("a.csv", {}, { machine: "other" });
  expect(summary).toMatchObject({ conflicts: 60, submitted: 0 });
  expect(await world.failed()).toContain(",photo_unknown,");
  // Those that were fetched at once, before the first had failed.
  expect(new Set(fetched).size).toBe(2);
  expect(fetched.length).toBeLessThanOrEqual(8);
});
