import { hash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { MirrorEntry } from "../../../src/flows/export/sync/mirror-entry.ts";
import { longTest } from "../../support/long-test.ts";
import { ownPicture } from "../../support/own-picture.ts";
import { sampled } from "../../support/repetitions.ts";
import { syncWorld } from "./sync-world.ts";

const shot = "beautify --product DRESS-2 --subtype clothing --background white --angle front --yes";
const look = "tryon --product DRESS-1 --model mdl_001 --background studio --angle full-front --yes";
const vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/";

/** A catalogue with six photos, a beautified shot and a try-on. */
async function labelWorld() {
  const world = await syncWorld();
  for (const line of [shot, look]) expect(await world.cat(line)).toMatchObject({ exit: 0 });
  const entries = (folder = "images") => world.index(`${folder}/catalogue.ndjson`);
  const bytesOf = ({ path }: MirrorEntry, folder = "images") => readFileSync(world.at(`${folder}/${path}`));
  return {
    ...world,
    entries,
    bytesOf,
    /** The digital source type of each generated image, by role; null for none. */
    sources: (folder = "images") =>
      Promise.all(
        entries(folder)
          .filter(({ ai_generated }) => ai_generated)
          .map(async (entry) => {
            const { xmp } = await sharp(bytesOf(entry, folder)).metadata();
            return [entry.role, /DigitalSourceType="([^"]*)"/.exec(String(xmp))?.[1] ?? null];
          })
          .sort(),
      ),
  };
}

const labeled = [
  ["beautifier", `${vocabulary}compositeWithTrainedAlgorithmicMedia`],
  ["tryon", `${vocabulary}trainedAlgorithmicMedia`],
];

describe("generated images of a mirror have their label", () => {
  test("by their role, and photos have none; the index has the digests as saved and as sent", async () => {
    const world = await labelWorld();
    await world.cat("export sync images");
    await world.cat("export sync plain --no-label");
    expect((await world.sources()).sort()).toEqual(labeled);
    expect((await world.sources("plain")).map(([, source]) => source)).toEqual([null, null]);
    for (const [at, entry] of world.entries().entries()) {
      const plain = world.entries("plain")[at]!;
      const saved = world.bytesOf(entry);
      expect([entry.bytes, entry.sha256]).toEqual([saved.length, hash("sha256", saved)]);
      expect(plain).not.toHaveProperty("sent_sha256");
      const { sent_sha256, ...others } = entry;
      if (entry.ai_generated) expect(sent_sha256).toBe(plain.sha256);
      else expect([sent_sha256, others]).toEqual([undefined, plain]);
    }
  });

  longTest("the size of the summary is that of the download", async () => {
    const world = await labelWorld();
    const bytes = async (line: string) =>
      JSON.parse((await world.cat(`export sync ${line} --json`)).stdout).bytes;
    expect(await bytes("images")).toBe(await bytes("plain --no-label"));
  });

  test("--verify accepts them, and repairs a damaged one with its label", async () => {
    const world = await labelWorld();
    await world.sync("images");
    const before = world.tree("images");
    expect((await world.sync("images --verify")).counts).toEqual({ total: 8, unchanged: 8 });
    const tryon = world.entries().find(({ role }) => role === "tryon")!;
    writeFileSync(world.at(`images/${tryon.path}`), "damaged");
    expect((await world.sync("images --verify")).counts).toEqual({ total: 8, changed: 1, unchanged: 7 });
    expect(world.tree("images")).toEqual(before);
  });

  longTest("shards and their merge have the same lines", async () => {
    const world = await labelWorld();
    await world.sync("whole");
    for (const shard of ["1/2", "2/2"]) await world.sync(`parts --shard ${shard}`);
    expect(await world.cat("export sync parts --merge")).toMatchObject({ exit: 0 });
    expect(world.entries("parts")).toEqual(world.entries("whole"));
  });

  longTest("a large one is labeled on its way from the disk", async () => {
    const world = await syncWorld();
    const blank = sharp({ create: { width: 1500, height: 1200, channels: 3, background: "#c33" } });
    const large = await blank.png({ compressionLevel: 0 }).toBuffer();
    expect(large.length).toBeGreaterThan(4 * 1024 * 1024);
    expect(await world.cat(look)).toMatchObject({ exit: 0 });
    await ownPicture(large);
    await world.cat("export sync images --role tryon");
    const [entry] = world.index("images/catalogue.ndjson");
    const saved = readFileSync(world.at(`images/${entry!.path}`));
    expect([entry!.bytes, entry!.sha256]).toEqual([saved.length, hash("sha256", saved)]);
    expect([entry!.sent_sha256, saved.length - large.length]).toEqual([hash("sha256", large), 427]);
    expect(saved.includes(`${vocabulary}trainedAlgorithmicMedia`)).toBe(true);
  });
});

describe("--no-label belongs to the run", () => {
  test.each(
    sampled(
      [
        ["", " --no-label"],
        [" --no-label", ""],
      ],
      1,
    ),
  )("files that a run%s saved are not downloaded again by one%s", async (first, second) => {
    const world = await labelWorld();
    await world.sync(`images${first}`);
    const before = world.tree("images");
    world.traffic();
    expect((await world.sync(`images --full${second}`)).counts).toEqual({ total: 8, unchanged: 8 });
    expect([world.tree("images"), world.traffic().images]).toEqual([before, 0]);
  });

  longTest("a new image gets the label, those of earlier runs stay without", async () => {
    const world = await labelWorld();
    await world.sync("images --no-label");
    await world.cat(`${look.replace("full-front", "full-back")}`);
    expect((await world.sync("images")).counts).toMatchObject({ added: 1, unchanged: 8 });
    const sources = (await world.sources()).map(([, source]) => source);
    expect(sources.sort()).toEqual([`${vocabulary}trainedAlgorithmicMedia`, null, null]);
  });

  test("a merge has no use for it", async () => {
    const world = await labelWorld();
    expect(await world.cat("export sync images --merge --no-label")).toEqual({
      ...{ exit: 2, stdout: "" },
      stderr: "error: --merge cannot be used with --no-label\nRemove one of them.\n",
    });
  });
});

test("an image that cannot have the label is saved as sent, with one warning that counts them", async () => {
  const world = await labelWorld();
  const picture = await ownPicture();
  const line = "export sync images --role beautifier,tryon";
  const ran = await world.cat(line);
  expect(ran).toEqual({
    ...{ exit: 0, stdout: "" },
    stderr: expect.stringMatching(
      /^Mirrored 2 images in images in 0\.0 s: 2 added \(.*\)\.\n2 images saved as sent: the AI label cannot be added to them\.\n$/,
    ),
  });
  for (const entry of world.entries()) {
    expect(entry).not.toHaveProperty("sent_sha256");
    expect(world.bytesOf(entry)).toEqual(picture);
  }
  rmSync(world.at("images"), { recursive: true });
  expect(JSON.parse((await world.cat(`${line} --json`)).stdout)).toMatchObject({ added: 2, unlabeled: 2 });
});
