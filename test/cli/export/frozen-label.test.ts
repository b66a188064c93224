import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import sharp from "sharp";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { labelWorld, vocabulary } from "./label-world.ts";
import { syncWorld } from "./sync-world.ts";

const labeled = [
  ["DRESS-1_tryon_full-front.png", `${vocabulary}trainedAlgorithmicMedia`],
  ["DRESS-2_beautifier_front.png", `${vocabulary}compositeWithTrainedAlgorithmicMedia`],
];
const pixelsOf = async (path: string) => hash("sha256", await sharp(path).raw().toBuffer());

test("generated images of a ZIP are extracted with their label, photos and pixels as sent", async () => {
  const world = await labelWorld();
  expect((await world.cat("export --zip --extract images")).stderr).toMatch(
    /^Exported 3 products with 8 images to images \(8 files, [^\n]*\n$/,
  );
  expect(world.exports()).toEqual(["zip", "manifest"]);
  expect(await world.cat("export --zip --extract plain --no-label")).toMatchObject({ exit: 0 });
  // Without the label, no manifest tells how images were made.
  expect(world.exports()).toEqual(["zip"]);
  expect(await world.sources("images")).toEqual(labeled);
  expect(await world.sources("plain")).toEqual([]);
  const [images, plain] = [world.tree("images"), world.tree("plain")];
  expect(Object.keys(images)).toEqual(Object.keys(plain));
  for (const name of Object.keys(images)) {
    expect(await pixelsOf(world.at(`images/${name}`))).toBe(await pixelsOf(world.at(`plain/${name}`)));
    if (!labeled.some(([one]) => one === name)) expect(images[name] === plain[name], name).toBe(true);
  }
});

longTest("own photos alone need no manifest", async () => {
  const world = await labelWorld();
  expect(await world.cat("export --zip --extract images --role source")).toMatchObject({ exit: 0 });
  expect(world.exports()).toEqual(["zip"]);
  expect(world.names("images")).toHaveLength(6);
});

longTest("with --not-rejected the other images have their label", async () => {
  const world = await labelWorld();
  const [shot, look] = world.mock.state().organizations.main.tasks.map(({ id }) => id);
  writeFileSync(world.at("d.csv"), `task_id,decision\n${shot},reject\n${look},approve\n`);
  await world.cat("tasks review d.csv");
  expect(await world.cat("export --zip --extract images --not-rejected")).toMatchObject({ exit: 0 });
  expect(await world.sources("images")).toEqual(labeled.slice(0, 1));
  expect(world.names("images")).toHaveLength(7);
});

longTest("images whose names are not certain are extracted as sent, with one warning", async () => {
  const world = await labelWorld();
  // Two products whose references differ only in case: their files are numbered in a ZIP.
  await world.add("dress-1", ["front"]);
  const ran = await world.cat("export --zip --extract images");
  expect(ran).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("\n2 images saved as sent: the AI label cannot be added to them.\n"),
  });
  expect(world.names("images")).toHaveLength(9);
  expect(await world.sources("images")).toEqual([]);
  const { stdout } = await world.cat("export --zip --extract json --json");
  expect(JSON.parse(stdout)).toMatchObject({ assets: 9, unlabeled: 2 });
});

test.each(sampled(["export --no-label", "export --zip --no-label", "export --manifest --no-label"], 1))(
  "a label flag without images to save is a wrong command line: %s",
  async (line) => {
    const world = await syncWorld();
    expect(await world.cat(line)).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --no-label needs --extract\nAdd --zip --extract DIR, or remove --no-label.\n",
    });
  },
);
