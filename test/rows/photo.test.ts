import { cpSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { imageInMemory, isCompleteImage } from "../../src/flows/files/image-bytes.ts";
import { readImageHead } from "../../src/flows/files/image-head.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

// Photos of ImageMagick and exiftool, and copies that were cut off (inputs/photo/make.sh).

const folder = fileURLToPath(new URL("inputs/photo", import.meta.url));

const damaged = (name: string, type: string) =>
  `damaged_image "photos/${name}" is a damaged ${type} image, its end is missing: copy or download it again`;

/** What is said about a photo: the problem, or the codes of its notes. */
const expected: Readonly<Record<string, string>> = {
  "rgb.jpg": "",
  "progressive.jpg": "",
  "upright.jpg": "",
  "thumbnail.jpg": "",
  "two.jpg": "",
  "padded.jpg": "",
  "rgb.png": "",
  "rgb.webp": "",
  "cmyk.jpg": "cmyk_photo",
  "turned-3.jpg": "turned_photo",
  "turned-6.jpg": "turned_photo",
  "turned-8.jpg": "turned_photo",
  "turned.png": "turned_photo",
  "turned.webp": "turned_photo",
  "cut-rgb.jpg": damaged("cut-rgb.jpg", "JPEG"),
  "cut-progressive.jpg": damaged("cut-progressive.jpg", "JPEG"),
  "cut-thumbnail.jpg": damaged("cut-thumbnail.jpg", "JPEG"),
  "no-eoi.jpg": damaged("no-eoi.jpg", "JPEG"),
  "zeros-rgb.jpg": damaged("zeros-rgb.jpg", "JPEG"),
  "cut-rgb.png": damaged("cut-rgb.png", "PNG"),
  "no-iend.png": damaged("no-iend.png", "PNG"),
  "zeros-rgb.png": damaged("zeros-rgb.png", "PNG"),
  "cut-rgb.webp": damaged("cut-rgb.webp", "WebP"),
  "zeros-rgb.webp": damaged("zeros-rgb.webp", "WebP"),
};
const names = Object.keys(expected);

async function worldWithPhotos(rows: readonly string[]) {
  const world = await createWorld();
  cpSync(folder, `${world.folder}/photos`, { recursive: true });
  world.write(
    "rows.csv",
    `reference,name,image_1\n${rows.map((name, at) => `R-${at + 2},Dress,photos/${name}\n`).join("")}`,
  );
  return world;
}

interface Report {
  readonly problems: { line: number; code: string; message: string }[];
  readonly notes?: { line: number; code: string; count: number }[];
  readonly converted?: number;
}

test("a dry run names each damaged photo, and counts those of print colors and turned ones", async () => {
  const world = await worldWithPhotos(names);
  const { problems, notes }: Report = JSON.parse(
    (await world.cat("import rows.csv --dry-run --json")).stdout,
  );
  expect(problems.map(({ line, code, message }) => [names[line - 2], `${code} ${message}`])).toEqual(
    names.filter((name) => expected[name]!.includes(" ")).map((name) => [name, expected[name]]),
  );
  const first = (code: string) => names.findIndex((name) => expected[name] === code) + 2;
  expect(notes).toMatchObject([
    { code: "cmyk_photo", count: 1, line: first("cmyk_photo"), param: "image_1", value: "photos/cmyk.jpg" },
    { code: "turned_photo", count: 5, line: first("turned_photo"), value: "photos/turned-3.jpg" },
  ]);
});

test.each([
  ["images upload photos/cut-rgb.jpg photos/rgb.jpg", damaged("cut-rgb.jpg", "JPEG")],
  ["products create --reference A --name B --image photos/zeros-rgb.webp", damaged("zeros-rgb.webp", "WebP")],
])("a damaged photo is not uploaded by another command: cat %s", async (line, problem) => {
  const world = await worldWithPhotos([]);
  expect(await world.cat(line)).toEqual({
    exit: 3,
    stdout: "",
    stderr: `error: ${problem.slice("damaged_image ".length)}\nReplace them, and run the command again. Nothing was sent.\n`,
  });
  expect(world.requests()).toEqual([]);
});

test("a folder of photos names each damaged one", async () => {
  const world = await worldWithPhotos([]);
  const ran = await world.cat(["import", "photos", "--pattern", "{reference}", "--dry-run"]);
  expect(ran.exit).toBe(3);
  const lines = names.filter((name) => expected[name]!.includes(" "));
  for (const name of lines)
    expect(ran.stderr.replace(/image_\d/g, "image_1")).toContain(
      `photos/${name}  image_1  ${expected[name]!.replace(" ", "  ")}\n`,
    );
  expect(ran.stderr.match(/damaged_image/g)).toHaveLength(lines.length);
});

longTest(
  "--convert uploads photos of print colors and turned ones upright in sRGB, and no damaged one",
  async () => {
    const sound = names.filter((name) => !expected[name]!.includes(" "));
    const world = await worldWithPhotos([
      ...sound,
      "rgb.tif",
      "rgb.gif",
      "cut-rgb.tif",
      "cut-rgb.gif",
      "cut-rgb.jpg",
    ]);
    const checked = await world.cat("import rows.csv --convert --dry-run --json");
    const { problems, notes, converted }: Report = JSON.parse(checked.stdout);
    expect(problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
      damaged("cut-rgb.tif", "TIFF"),
      damaged("cut-rgb.gif", "GIF"),
      damaged("cut-rgb.jpg", "JPEG"),
    ]);
    expect([notes, converted]).toEqual([undefined, 8]);

    expect((await world.cat("import rows.csv --convert --skip-invalid --json")).exit).toBe(8);
    for (const [name, width, height] of [
      ["cmyk.jpg", 120, 90],
      ["turned-3.jpg", 120, 90],
      ["turned-6.jpg", 90, 120],
      ["turned.png", 90, 120],
      ["turned.webp", 90, 120],
    ] as const) {
      const product = world.products().find(({ reference }) => reference === `R-${sound.indexOf(name) + 2}`)!;
      await world.cat(["images", "get", product.images[0]!.id, "--save", "out.jpg", "--yes", "--no-label"]);
      const bytes = readFileSync(`${world.folder}/out.jpg`);
      const made = await sharp(bytes).metadata();
      expect([name, made.width, made.height, made.space, made.orientation]).toEqual([
        ...[name, width, height, "srgb"],
        undefined,
      ]);
      // About the colors of the original, not those of its inverse.
      const stats = async (image: Buffer | string) =>
        (await sharp(image).toColourspace("srgb").stats()).channels.map(({ mean }) => mean);
      const [seen, meant] = [await stats(bytes), await stats(`${folder}/rgb.jpg`)];
      const distance = (to: (mean: number) => number) =>
        seen.reduce((sum, mean, index) => sum + Math.abs(mean - to(meant[index]!)), 0);
      expect(distance((mean) => mean)).toBeLessThan(distance((mean) => 255 - mean) / 2);
    }
  },
);

test("the head of a photo says what another library reads", async () => {
  for (const name of readdirSync(folder).filter((one) => /^(?!cut|zeros).*\.(?:jpg|png|webp)$/.test(one))) {
    const bytes = readFileSync(`${folder}/${name}`);
    const { width, height, space, orientation = 1 } = await sharp(bytes, { failOn: "none" }).metadata();
    expect([name, readImageHead(imageInMemory([bytes]))]).toEqual([
      name,
      { width, height, isCmyk: space === "cmyk", isTurned: orientation > 1 },
    ]);
  }
});

test("a photo of any size is complete, and is not without its last part, or with zeros there", async () => {
  const formats = ["jpeg", "png", "webp"] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...formats),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
      fc.boolean(),
      fc.double({ min: 0.2, max: 0.7, noNaN: true }),
      async (format, width, height, isPlain, part) => {
        const data = Buffer.from(
          Array.from({ length: width * height * 3 }, (_, at) => (isPlain ? 200 : (at * at * 31) % 251)),
        );
        const bytes = await sharp(data, { raw: { width, height, channels: 3 } })
          .toFormat(format)
          .toBuffer();
        const isComplete = (...parts: Buffer[]) => isCompleteImage(imageInMemory(parts));
        const kept = Math.floor(bytes.length * part);
        expect(isComplete(bytes)).toBe(true);
        expect(isComplete(bytes, Buffer.alloc(5_000))).toBe(true);
        expect(isComplete(bytes, bytes)).toBe(true);
        expect(isComplete(bytes.subarray(0, kept))).toBe(false);
        if (bytes.length - kept > 32)
          expect(isComplete(bytes.subarray(0, kept), Buffer.alloc(bytes.length - kept))).toBe(false);
        // Any bytes are read without a failure.
        readImageHead(imageInMemory([bytes.subarray(0, kept)]));
      },
    ),
    { numRuns: repetitions(20, 60) },
  );
});

test("a WebP photo with one color below, which ends with many zeros, is complete", () => {
  const bytes = readFileSync(`${folder}/plain-bottom.webp`);
  expect(bytes.subarray(-250).every((byte) => byte === 0)).toBe(true);
  expect(isCompleteImage(imageInMemory([bytes]))).toBe(true);
  const half = bytes.length / 2;
  expect(isCompleteImage(imageInMemory([bytes.subarray(0, half), Buffer.alloc(half)]))).toBe(false);
});
