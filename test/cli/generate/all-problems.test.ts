import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { generateWorld } from "./generate-world.ts";

const rows = [
  "NONE,Amara,studio,full-front",
  "DRESS-1,,studio,full-front",
  "DRESS-2,Nobody,studio,full-front",
  "DRESS-3,Amara,studio,full-front",
];
const places = (stderr: string) =>
  stderr.split("\n").flatMap((line) => /^looks\.csv:\d+ {2}\w+/.exec(line) ?? []);

test("problems of rows, and names that do not exist, are shown at once in the order of the file", async () => {
  const { cat, looks, tasks } = await generateWorld();
  looks(...rows);
  const ran = await cat("tryon looks.csv --yes");
  expect(ran.exit).toBe(3);
  expect(places(ran.stderr)).toEqual([
    "looks.csv:2  product_reference",
    "looks.csv:3  model_id",
    "looks.csv:4  model_id",
  ]);
  expect(ran.stderr).toContain("error: looks.csv has 3 invalid rows out of 4; nothing was queued");
  expect(tasks()).toEqual([]);
});

test.each([
  ["without an API key", { CAT_API_KEY: undefined }],
  ["if the service cannot be reached", { CAT_BASE_URL: "http://127.0.0.1:9" }],
])("problems of rows are shown %s", async (_, env) => {
  const { cat, looks } = await generateWorld();
  looks(...rows);
  const ran = await cat("tryon looks.csv --yes", { env });
  expect(ran.exit).toBe(3);
  expect(places(ran.stderr)).toEqual(["looks.csv:3  model_id"]);
});

longTest("the time left is at least what the rate limit takes, as in the note before", async () => {
  const { cat, write } = await generateWorld({ mock: { rateLimit: { reads: 600, writes: 60 } } });
  const angles = ["front", "back", "three-quarter-left", "three-quarter-right", "detail"];
  const shots = [1, 2, 3, 4, 5, 6].flatMap((one) =>
    ["white", "beige", "black"].flatMap((background) =>
      angles.map((angle) => `DRESS-${one},clothing,${background},${angle}`),
    ),
  );
  write("shots.csv", `product_reference,subtype,background,angle_shot\n${shots.join("\n")}\n`);
  const ran = await cat("beautify shots.csv --yes");
  expect(ran.stderr).toContain("90 images in 90 requests: at least 1 min");
  expect(ran.stderr).toContain("\ngenerating: 59 of 90, 31 to send, 5.9/s, 40 s left\n");
});

test("IDs of products that do not exist, have another reference or style themselves are rejected", async () => {
  const { cat, write, products, tasks } = await generateWorld();
  const idOf = (reference: string) => products().find((one) => one.reference === reference)!.id;
  const [one, unknown] = [idOf("DRESS-1"), "01HZ0000000000000000000000"];
  const looks = [`${one},DRESS-2,`, `${unknown},,`, `,DRESS-1,${one}`, `,DRESS-1,${unknown}`];
  const header = "product_id,product_reference,styling_product_ids,model_id,background,angle_shot";
  write("ids.csv", [header, ...looks.map((look) => `${look},Amara,studio,full-front`), ""].join("\n"));
  const { exit, stderr } = await cat("tryon ids.csv --yes");
  expect([exit, tasks()]).toEqual([3, []]);
  expect(stderr.split("\n").slice(0, 4)).toEqual([
    `ids.csv:2  product_reference  product_mismatch  product ${one} has the reference "DRESS-1", not "DRESS-2": fix one of them`,
    expect.stringMatching(/^ids\.csv:3 {2}product_id {2}product_not_found {2}/),
    "ids.csv:4  styling_product_ids  invalid_row  styling_product_ids contains the main product: remove it",
    expect.stringMatching(/^ids\.csv:5 {2}styling_product_ids {2}product_not_found {2}/),
  ]);
});
