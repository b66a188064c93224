import { expect, test } from "vitest";
import { generateWorld, summaryOf } from "./generate-world.ts";

const shots = (...rows: string[]) =>
  `${["product_reference,subtype,background,angle_shot,style", ...rows].join("\n")}\n`;

test("a file of shots is one request per image, in the flat form or the service's", async () => {
  const world = await generateWorld();
  world.write("shots.csv", shots("DRESS-1,clothing,floor,front,ghost", "DRESS-2,shoes,white,side,"));
  const ran = await world.cat("beautify shots.csv --yes --json");
  expect(summaryOf(ran.stdout)).toMatchObject({ total: 2, queued: 2, succeeded: 2 });
  expect(world.queuing()).toEqual(["POST /v1/tasks/beautifier 202", "POST /v1/tasks/beautifier 202"]);
  const product_id = world.products()[2]!.id;
  const row = { subtype: "headwear", inputs: { product_id, background: "#ffffff", angle_shot: "side" } };
  world.write("shots.ndjson", `${JSON.stringify(row)}\n`);
  expect(await world.cat("beautify shots.ndjson --yes")).toMatchObject({ exit: 0 });
  expect(
    world
      .tasks()
      .map(({ subtype }) => subtype)
      .sort(),
  ).toEqual(["clothing", "headwear", "shoes"]);
});

test("an input that the service rejects comes back with its line; --skip-invalid queues the rest", async () => {
  const world = await generateWorld();
  world.write(
    "back.ndjson",
    `${JSON.stringify({ reference: "BACK", name: "x", images: [{ url: "https://cdn.example.com/b.jpg", orientation: "back" }] })}\n`,
  );
  await world.cat("import back.ndjson");
  world.write("shots.csv", shots("BACK,clothing,white,front,", "DRESS-1,clothing,white,front,"));
  const rejected = await world.cat("beautify shots.csv --yes --skip-invalid --json");
  expect(rejected.exit).toBe(8);
  expect(summaryOf(rejected.stdout)).toMatchObject({
    total: 2,
    queued: 1,
    succeeded: 1,
    rejected: [{ line: 2, code: "image_required" }],
    failed_file: "shots.failed.csv",
  });
  expect(world.read("shots.failed.csv")).toMatch(
    /^product_reference,.*\nBACK,clothing,white,front,,image_required,[^\n]*\n$/,
  );
  world.write("only.csv", shots("BACK,clothing,white,front,ghost"));
  const none = await world.cat("beautify only.csv --yes");
  expect(none.exit).toBe(3);
  expect(none.stderr).toContain("error: the service rejected 1 image of only.csv; nothing was queued\n");
});
