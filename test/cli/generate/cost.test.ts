import { readdirSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const unknownBalance = "Each one costs credits (balance unknown).";

/** Rows of 24 images of two products. */
const manyLooks = Array.from({ length: 24 }, (_, at) => {
  const color = `#${String(at).padStart(6, "0")}`;
  return `DRESS-${(at % 2) + 1},Amara,${color},full-front`;
});

const lines = (stderr: string) => stripVTControlCharacters(stderr).split("\n");

longTest("the question names images, products and what is known of the balance", async () => {
  const world = await generateWorld();
  world.looks(...manyLooks);
  const { ran, type } = atTerminal(world, "tryon looks.csv");
  await type(`Generate 24 images of 2 products? ${unknownBalance}`, "n\r");
  await ran;
  await world.credits(0);
  await world.cat("tryon looks.csv --yes");
  const again = atTerminal(world, "tryon looks.csv");
  const at = `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`;
  await again.type(`(0 left at\n${at}: 24 short).`, "n\r");
  expect((await again.ran).exit).toBe(0);
  await world.credits(24);
  expect((await world.cat("tryon looks.csv --yes")).exit).toBe(0);
  world.looks("DRESS-1,Amara,studio,full-front");
  const later = atTerminal(world, "tryon looks.csv");
  await later.type(`Generate 1 image of 1 product? ${unknownBalance}`, "n\r");
  await later.ran;
});

test("a run of 24 images with 7 credits is told for the whole run, in requests of 18 and 6", async () => {
  const world = await generateWorld();
  world.looks(
    ...manyLooks.map((look, at) => (at < 12 && at % 2 === 1 ? look.replace("DRESS-2", "DRESS-1") : look)),
  );
  await world.credits(7);
  const before = world.clock.now();
  const stopped = await world.cat("tryon looks.csv --yes --save images");
  expect([stopped.exit, world.tasks()]).toEqual([4, []]);
  // No image is waited for.
  expect(world.clock.now() - before).toBe(0);
  expect(stopped.stderr).toMatch(
    /error: 24 images, 7 credits left: 17 short \(POST \/v1\/tasks\/tryon: 402 insufficient_credits, request \S+\)\nAdd 17 credits in the dashboard, and run the same command again: no image is paid for twice\.\n$/,
  );
});

longTest(
  "a run that is paid for in part names these images and saves them; the same command resumes it",
  async () => {
    const world = await generateWorld();
    world.looks(...manyLooks);
    await world.credits(22);
    const stopped = await world.cat("tryon looks.csv --yes --save images");
    expect([stopped.exit, world.tasks().length]).toEqual([4, 12]);
    const said = lines(stopped.stderr);
    expect(said).toContain("Stopped: 12 of 24 images of looks.csv queued.");
    const first = said.indexOf("  12 images queued and paid for:") + 1;
    const named = said.slice(first, first + 12);
    for (const line of named)
      expect(line).toMatch(/^ {4}DRESS-\d {2}Amara {2}#0000\d\d {2}full-front {2}images\/DRESS-\d_.*\.png$/);
    expect(readdirSync(join(world.folder, "images")).sort()).toEqual(
      [...named.map((line) => line.split("images/")[1]!), "results.csv", "results.ndjson"].sort(),
    );
    expect(said.slice(first + 12, first + 14)).toEqual([
      "  12 images not queued",
      "Saved 12 images in images (listed in results.csv).",
    ]);
    expect(stopped.stderr).toContain("error: 24 images, 22 credits left: 2 short (");
    await world.credits(12);
    const resumed = await world.cat("tryon looks.csv --yes --save images --json");
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 24, queued: 12, unchanged: 12, succeeded: 24 });
    expect(world.tasks()).toHaveLength(24);
  },
);

test("beautified shots, one per request, are told for the whole run too; --json has the credits", async () => {
  const world = await generateWorld();
  const rows = ["DRESS-1", "DRESS-2", "DRESS-3"].map((reference) => `${reference},clothing,white,front`);
  world.write("shots.csv", ["product_reference,subtype,background,angle_shot", ...rows, ""].join("\n"));
  await world.credits(1);
  const stopped = await world.cat("beautify shots.csv --yes --json");
  expect(stopped.exit).toBe(4);
  expect(summaryOf(stopped.stdout)).toMatchObject({
    total: 3,
    queued: 1,
    not_queued: 2,
    credits: { left: 0, short: 2 },
  });
  expect(JSON.parse(stopped.stderr)).toMatchObject({
    error: {
      type: "payment_required",
      code: "insufficient_credits",
      message: expect.stringMatching(/^3 images, 1 credit left: 2 short \(.*\)\. Add 2 credits/),
    },
  });
});

longTest("images of a request that failed before its 402 count as not paid for", async () => {
  const world = await generateWorld();
  world.looks(...manyLooks);
  await world.credits(7);
  await world.fault({ match: { method: "POST", path: "/v1/tasks" }, times: 2, status: 503 });
  const stopped = await world.cat("tryon looks.csv --yes");
  expect(stopped.stderr).toContain("error: 24 images, 7 credits left: 17 short (");
});

longTest("a 402 without a balance names what is not paid for", async () => {
  const world = await generateWorld();
  world.looks(...manyLooks);
  await world.fault({ match: { method: "POST", path: "/v1/tasks" }, status: 402 });
  const stopped = await world.cat("tryon looks.csv --yes");
  expect(stopped.exit).toBe(4);
  expect(stopped.stderr).toMatch(/error: 24 images, 24 not paid for: .*402 insufficient_credits/);
  expect(stopped.stderr).toContain("Add credits or a subscription in the dashboard");
});

test("a terminal is asked where to save before anything is paid", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  world.write("taken", "a file");
  const { ran, type, shows } = atTerminal(world, "tryon looks.csv");
  await type("Generate 1 image of 1 product?", "y\r");
  await type("Save the images in (a folder, or - for none)", "taken\r");
  await shows("cannot save in taken: it is a file");
  expect(world.tasks()).toEqual([]);
  await type("cannot save in taken: it is a file", "new images\r");
  const { exit, stderr } = await ran;
  expect(exit).toBe(0);
  expect(lines(stderr)).toContain("Saved 1 image in new images (listed in results.csv).");
  expect(readdirSync(join(world.folder, "new images"))).toEqual(
    expect.arrayContaining(["results.csv", "results.ndjson"]),
  );
});

test.each(sampled(["--save images", "--no-wait", "--yes"], 1))("%s asks for no folder", async (flag) => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  const { ran, type } = atTerminal(world, `tryon looks.csv ${flag}`);
  if (flag !== "--yes") await type("Generate 1 image of 1 product?", "y\r");
  const { exit, stderr } = await ran;
  expect([exit, stderr.includes("Save the images in")]).toEqual([0, false]);
});

test("- saves none, and the next command is printed as before", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  const { ran, type } = atTerminal(world, "tryon looks.csv");
  await type("Generate 1 image of 1 product?", "y\r");
  await type("Save the images in", "-\r");
  const { exit, stderr } = await ran;
  expect(exit).toBe(0);
  expect(stderr).toContain("To save the images, run:");
});
