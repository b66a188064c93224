import { join } from "node:path";
import { expect } from "vitest";
import { generateWorld } from "../cli/generate/generate-world.ts";
import { longTest } from "../support/long-test.ts";
import { spawnCat } from "../support/spawn-cat.ts";

longTest("processes that save into one folder at once list every image", async () => {
  const world = await generateWorld({ mock: { speed: 1_000_000 } });
  world.looks(...[1, 2, 3, 4].map((at) => `DRESS-${at},Amara,studio,full-front`));
  await world.cat("tryon looks.csv --yes");
  const ids = world.tasks().map(({ id }) => id);
  const { baseUrl, apiKey } = world.mock;
  const env = { CAT_BASE_URL: baseUrl, CAT_API_KEY: apiKey, CAT_HOME: join(world.folder, ".home") };
  const save = (id: string) =>
    spawnCat(["tasks", "save", id, "--save", "images"], { cwd: world.folder, env });
  const ran = await Promise.all(ids.map(save));
  expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  const listed = world.read("images/results.csv").trim().split("\n").slice(1);
  expect(listed.map((line) => line.split(",")[1]).toSorted()).toEqual(ids.toSorted());
});
