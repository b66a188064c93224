import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { ResultRow } from "../../../src/flows/generate/result.ts";
import { longTest } from "../../support/long-test.ts";
import { ownPicture } from "../../support/own-picture.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/";
const twoLooks = ["DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front"];

async function labelWorld() {
  const world = await generateWorld();
  world.looks(...twoLooks);
  const images = () =>
    readdirSync(join(world.folder, "images"))
      .filter((name) => name.endsWith(".png"))
      .sort()
      .map((name) => readFileSync(join(world.folder, "images", name)));
  const sourceOf = async (image: Buffer) =>
    /DigitalSourceType="([^"]*)"/.exec(String((await sharp(image).metadata()).xmp))?.[1] ?? null;
  return {
    ...world,
    images,
    /** The digital source type of each saved image, by name. */
    sources: () => Promise.all(images().map(sourceOf)),
    /** The column `label` of the two lists in the folder. */
    labels: () => ({
      csv: world
        .read("images/results.csv")
        .trim()
        .split("\n")
        .map((line) => line.split(",")[11]),
      ndjson: world
        .read("images/results.ndjson")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as ResultRow).label),
    }),
    /** The images of all tasks as the service sends them, by product. */
    sent: () =>
      Promise.all(
        world.tasks().map(async ({ id }) => {
          const { stdout } = await world.cat(["tasks", "get", id, "--json"]);
          return Buffer.from(await (await fetch(JSON.parse(stdout).output_image.url)).arrayBuffer());
        }),
      ),
  };
}

describe("saved images have the label of generated ones", () => {
  test("try-ons are made by an algorithm; no pixel changes", async () => {
    const world = await labelWorld();
    const ran = await world.cat("tryon looks.csv --yes --save images --json");
    expect(summaryOf(ran.stdout).tasks.map(({ label }) => label)).toEqual([true, true]);
    expect(await world.sources()).toEqual(Array(2).fill(`${vocabulary}trainedAlgorithmicMedia`));
    expect(world.labels()).toEqual({ csv: ["label", "true", "true"], ndjson: [true, true] });
    const pixels = (images: Buffer[]) =>
      Promise.all(images.map(async (image) => hash("sha256", await sharp(image).raw().toBuffer())));
    expect(await pixels(world.images())).toEqual(await pixels(await world.sent()));
  });

  test("beautified shots are composites", async () => {
    const world = await labelWorld();
    const shot = "beautify --product DRESS-1 --subtype clothing --background white --angle front";
    expect(await world.cat(`${shot} --yes --save images`)).toMatchObject({ exit: 0 });
    expect(await world.sources()).toEqual([`${vocabulary}compositeWithTrainedAlgorithmicMedia`]);
  });

  longTest.each(["save", "watch"])("also those of cat tasks %s, of each type", async (verb) => {
    const world = await labelWorld();
    await world.cat("tryon looks.csv --yes --limit 1");
    await world.cat("beautify --product DRESS-1 --subtype clothing --background white --angle front --yes");
    const ids = world.tasks().map(({ id }) => id);
    const ran = await world.cat(["tasks", verb, ...ids, "--save", "images", "--json"]);
    const rows = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ type, label }) => [type, label])).toEqual([
      ["tryon", true],
      ["beautifier", true],
    ]);
    expect((await world.sources()).sort()).toEqual([
      `${vocabulary}compositeWithTrainedAlgorithmicMedia`,
      `${vocabulary}trainedAlgorithmicMedia`,
    ]);
  });
});

describe("--no-label", () => {
  test.each(["tryon looks.csv --yes", ...repetitions([], ["tasks save --run RUN"])])(
    "saves the bytes as sent, and says so in the lists: %s",
    async (line) => {
      const world = await labelWorld();
      const { run_id } = summaryOf((await world.cat("tryon looks.csv --yes --json")).stdout);
      const ran = await world.cat(`${line.replace("RUN", run_id)} --save images --no-label`);
      expect(ran.stderr).toMatch(/Saved 2 images in images \(listed in results\.csv\)\.\n$/);
      expect(world.images()).toEqual(await world.sent());
      expect(world.labels()).toEqual({ csv: ["label", "false", "false"], ndjson: [false, false] });
    },
  );

  longTest(
    "leaves a file that has the label, and without it one that has none: neither is saved again",
    async () => {
      const world = await labelWorld();
      await world.cat("tryon looks.csv --yes --limit 1 --save images");
      await world.cat("tryon looks.csv --yes --save images --no-label");
      const before = world.images();
      await world.cat("tryon looks.csv --save images");
      expect(world.images()).toEqual(before);
      expect(world.labels().ndjson).toEqual([true, false]);
    },
  );

  test.each(["tryon looks.csv", "tasks watch"])("needs --save: %s", async (line) => {
    const world = await labelWorld();
    expect(await world.cat(`${line} --no-label`)).toEqual({
      ...{ exit: 2, stdout: "" },
      stderr: "error: --no-label needs --save\nAdd --save, or remove --no-label.\n",
    });
  });
});

describe("an image that cannot have the label is saved as sent, with one warning that counts them", () => {
  test.each(
    sampled(
      [
        [[...twoLooks], "2 images saved as sent: the AI label cannot be added to them."],
        [[twoLooks[0]!], "1 image saved as sent: the AI label cannot be added to it."],
      ],
      1,
    ),
  )("by a run: %j", async (looks, warning) => {
    const world = await labelWorld();
    world.looks(...looks);
    const picture = await ownPicture();
    const ran = await world.cat("tryon looks.csv --yes --save images");
    expect(ran.stderr.trimEnd().split("\n").at(-1)).toBe(warning);
    expect(ran.exit).toBe(0);
    expect(world.images()).toEqual(looks.map(() => picture));
    expect(world.labels().ndjson).toEqual(looks.map(() => false));
  });

  longTest("in the summary of a run as JSON", async () => {
    const world = await labelWorld();
    await ownPicture();
    const { stdout } = await world.cat("tryon looks.csv --yes --save images --json");
    expect(summaryOf(stdout)).toMatchObject({ unlabeled: 2, tasks: [{ label: false }, { label: false }] });
  });

  longTest("by cat tasks save", async () => {
    const world = await labelWorld();
    await world.cat("tryon looks.csv --yes --limit 1");
    await ownPicture();
    const ran = await world.cat(["tasks", "save", world.tasks()[0]!.id, "--save", "images"]);
    expect(ran.stderr).toBe(
      "Saved 1 image in images (listed in results.csv).\n" +
        "1 image saved as sent: the AI label cannot be added to it.\n",
    );
  });
});
