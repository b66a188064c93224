import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

test("--max-changes counts the rows that an earlier process sent", async () => {
  const world = await createWorld();
  const row = (n: number) => `A-${n},Dress ${n},https://cdn.example.com/${n}.jpg\n`;
  world.write("a.csv", `reference,name,images\n${[1, 2, 3, 4].map(row).join("")}`);
  const line = "import a.csv --no-progress";
  expect((await world.cat(`${line} --no-wait`)).exit).toBe(0);
  const posts = () => world.requests().filter(({ method }) => method === "POST").length;
  expect(posts()).toBe(1);
  const ran = await world.cat(`${line} --max-changes 3`);
  expect([ran.exit, ran.stderr]).toEqual([
    3,
    expect.stringContaining(
      "error: 4 of 4 rows would be sent, more than --max-changes 3; nothing was sent\n",
    ),
  ]);
  expect((await world.cat(`${line} --max-changes 4`)).exit).toBe(0);
  expect(posts()).toBe(1);
  expect(world.products().map(({ images }) => images.length)).toEqual([1, 1, 1, 1]);
});
