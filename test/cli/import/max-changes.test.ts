import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";

test("--max-changes counts the rows that an earlier process sent", async () => {
  const world = await createWorld();
  const row = (n: number) => `A-${n},Dress ${n},https://cdn.example.com/${n}.jpg\n`;
  world.write("a.csv", `reference,name,images\n${[1, 2, 3, 4].map(row).join("")}`);
  const sent = () => world.requests().filter(({ method }) => method === "POST").length;
  const front = await serviceInFront(world.mock.baseUrl);
  const env = { CAT_BASE_URL: front.origin };
  // The second of two batches never arrives.
  front.loses = (body) => body.includes("A-3");
  const line = "import a.csv --batch 2 --concurrency 1 --no-progress";
  expect((await world.cat(line, { env })).exit).toBe(7);
  front.loses = null;
  const before = sent();
  const ran = await world.cat(`${line} --max-changes 3`, { env });
  expect([ran.exit, ran.stderr]).toEqual([
    3,
    expect.stringContaining(
      "error: 4 of 4 rows would be sent, more than --max-changes 3; nothing was sent\n",
    ),
  ]);
  expect(sent()).toBe(before);
  expect((await world.cat(`${line} --max-changes 4`, { env })).exit).toBe(0);
  expect(world.products().map(({ images }) => images.length)).toEqual([1, 1, 1, 1]);
});
