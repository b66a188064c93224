import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { isLong, sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

/** The same world twice: with today's service, and with one of a later version. */
async function worlds() {
  const mock = { demo: 3, rateLimit: false } as const;
  const [today, tomorrow] = await Promise.all([
    createWorld({ mock }),
    createWorld({ mock: { ...mock, tomorrow: true } }),
  ]);
  for (const world of [today, tomorrow]) {
    world.write("a.csv", "reference,name,images\nR-1,Red dress,https://cdn.example.com/1.jpg\n");
    world.write(
      "bad.csv",
      "reference,name,images\nR-2,Blue dress,https://cdn.example.com/fail-new_code.jpg\n",
    );
    world.withFixtures();
  }
  const masked = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, "HOST").replaceAll(/run_\w+/g, "RUN");
  /** Runs the command in both; the later service must make no difference to its output. */
  const same = async (line: string, exit = 0) => {
    const [one, two] = [await today.cat(line), await tomorrow.cat(line)];
    expect([line, two.exit, masked(two.stdout), masked(two.stderr)]).toEqual([
      line,
      exit,
      masked(one.stdout),
      masked(one.stderr),
    ]);
    return two.stdout;
  };
  return { today, tomorrow, same };
}

test("the main commands show the same with a service that sends unknown fields", async () => {
  const { same, today, tomorrow } = await worlds();
  await same("whoami");
  await same("products list");
  if (isLong) await same("products list --format csv");
  await same("import a.csv");
  await same("import a.csv");
  await same("import bad.csv", 8);
  // One resource is shown with all its fields.
  for (const line of ["products get R-1", "products update R-1 --name Crimson"]) {
    const { exit, stdout, stderr } = await tomorrow.cat(line);
    expect([line, exit, stderr]).toEqual([line, 0, expect.not.stringContaining("error")]);
    expect(stdout).toMatch(/^added_later +note a field of a later version$/m);
    await today.cat(line);
  }
  if (isLong) await same("tryon --product R-1 --model mdl_001 --background studio --angle full-front --yes");
  await same("beautify --product R-1 --subtype clothing --background white --angle front --yes --save shots");
  for (const line of sampled(["tasks list", "imports list", "models list --own", "webhooks list"]))
    await same(line);
  await same("products get none", 5);
  if (isLong) await same("tasks list --status failed");
  expect(tomorrow.products().map(({ name }) => name)).toContain("Crimson");
  expect(readdirSync(`${tomorrow.folder}/shots`)).toEqual(readdirSync(`${today.folder}/shots`));
});

test("exports and mirrors keep images with a new role, and JSON passes unknown fields on", async () => {
  const { tomorrow } = await worlds();
  const rows = (await tomorrow.cat("export")).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(3);
  expect(rows[0].assets.at(-1)).toMatchObject({
    role: "lookbook",
    attributes: { added_later: "soft light" },
  });
  expect(rows[0].product).toHaveProperty("added_later");
  const csv = await tomorrow.cat("export --format csv");
  expect([csv.exit, csv.stdout.split("\n").filter((line) => line.includes("lookbook")).length]).toEqual([
    0, 3,
  ]);
  for (const line of [
    "export --manifest --out m.ndjson",
    "export --zip --extract zip",
    "export sync mirror",
  ]) {
    expect([line, (await tomorrow.cat(line)).exit]).toEqual([line, 0]);
  }
  expect(tomorrow.read("m.ndjson").trimEnd().split("\n")).toHaveLength(3);
  const files = (folder: string) =>
    readdirSync(`${tomorrow.folder}/${folder}`, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.includes("lookbook"),
    );
  expect([files("zip").length, files("mirror").length]).toEqual([3, 3]);
  const again = JSON.parse((await tomorrow.cat("export sync mirror --json")).stdout);
  expect(again).toMatchObject({ added: 0, changed: 0, removed: 0, failed: 0 });
  const product = JSON.parse((await tomorrow.cat("products list --limit 1 --json")).stdout);
  expect(product).toHaveProperty("added_later");
});
