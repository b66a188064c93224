import { cpSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { isDamagedImage } from "../../src/flows/files/damaged-image.ts";
import { imageInMemory, isCompleteForeign } from "../../src/flows/files/image-bytes.ts";
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
        const isSound = async (...parts: Buffer[]) => !(await isDamagedImage(imageInMemory(parts)));
        const kept = Math.floor(bytes.length * part);
        expect(await isSound(bytes)).toBe(true);
        expect(await isSound(bytes, Buffer.alloc(5_000))).toBe(true);
        expect(await isSound(bytes, bytes)).toBe(true);
        expect(await isSound(bytes.subarray(0, kept))).toBe(false);
        if (bytes.length - kept > 32)
          expect(await isSound(bytes.subarray(0, kept), Buffer.alloc(bytes.length - kept))).toBe(false);
        // Any bytes are read without a failure.
        readImageHead(imageInMemory([bytes.subarray(0, kept)]));
      },
    ),
    { numRuns: repetitions(20, 60) },
  );
});

describe("zeros in an image", () => {
  const noise = (width: number, height: number) =>
    Buffer.from(
      Array.from({ length: width * height * 3 }, (_, at) => Math.imul(at ^ (at >>> 3), 0x9e3779b1) >>> 24),
    );
  const raw = { width: 200, height: 150, channels: 3 } as const;
  const picture = sharp(noise(200, 150), { raw });
  /** The rest from a place on, up to some bytes before the end, as zeros. */
  const withZeros = (bytes: Buffer, from: number, kept = 0) =>
    Buffer.concat([
      bytes.subarray(0, from),
      Buffer.alloc(bytes.length - kept - from),
      bytes.subarray(bytes.length - kept),
    ]);
  const plainBottom = () => readFileSync(`${folder}/plain-bottom.webp`);
  const white = (format: "webp" | "jpeg", quality: number) =>
    sharp({ create: { width: 400, height: 400, channels: 3, background: "#ffffff" } })
      .composite([{ input: noise(100, 20), raw: { width: 100, height: 20, channels: 3 }, top: 5, left: 9 }])
      .toFormat(format, { quality, ...(format === "webp" ? { effort: 1 } : { optimizeCoding: true }) })
      .toBuffer();
  const animation = () =>
    sharp(noise(60, 180), { raw: { width: 60, height: 180, channels: 3, pageHeight: 60 } })
      .webp({ loop: 0 })
      .toBuffer();
  /** An EXIF chunk that ends with zeros, after the pixels. */
  const withExif = async () => {
    const bytes = await picture
      .clone()
      .withExif({ IFD0: { Artist: "A" } })
      .webp()
      .toBuffer();
    const padded = Buffer.concat([bytes, Buffer.alloc(2060)]);
    padded.writeUInt32LE(padded.length - 8, 4);
    const exif = padded.indexOf("EXIF");
    padded.writeUInt32LE(padded.readUInt32LE(exif + 4) + 2060, exif + 4);
    return padded;
  };

  test.for<[string, boolean, () => Promise<Buffer> | Buffer]>([
    ["a plain bottom of one color", false, plainBottom],
    ["a white WebP of quality 100", false, () => white("webp", 100)],
    ["a white WebP of quality 80", false, () => white("webp", 80)],
    ["a white JPEG", false, () => white("jpeg", 80)],
    ["an EXIF chunk that is padded", false, withExif],
    ["an animation", false, animation],
    [
      "after the end of a JPEG",
      false,
      async () => Buffer.concat([await white("jpeg", 80), Buffer.alloc(999)]),
    ],
    ["the lower half of a plain bottom", true, () => withZeros(plainBottom(), plainBottom().length / 2)],
    ["the last tenth of a WebP", true, async () => tail(await picture.clone().webp().toBuffer(), 0.9)],
    ["the last hundredth of a WebP", true, async () => tail(await picture.clone().webp().toBuffer(), 0.99)],
    [
      "the end of a lossless WebP",
      true,
      async () => tail(await picture.clone().webp({ lossless: true }).toBuffer(), 0.99),
    ],
    ["the last frame of an animation", true, async () => tail(await animation(), 0.7)],
    ["the end of an animation", true, async () => tail(await animation(), 0.98)],
    [
      "pixels before the EXIF chunk",
      true,
      async () => {
        const bytes = await withExif();
        return withZeros(bytes, 4_000, bytes.length - bytes.indexOf("EXIF"));
      },
    ],
    [
      "a JPEG that keeps its end",
      true,
      async () => withZeros(await picture.clone().jpeg().toBuffer(), 9_000, 2),
    ],
    [
      "a PNG that keeps its end",
      true,
      async () => withZeros(await picture.clone().png().toBuffer(), 40_000, 12),
    ],
  ])("%s: damaged is %s", async ([, isDamaged, bytes]) => {
    expect(await isDamagedImage(imageInMemory([await bytes()]))).toBe(isDamaged);
  });

  const tail = (bytes: Buffer, kept: number) => withZeros(bytes, Math.floor(bytes.length * kept));
});

test("an image whose chunk is longer than the file, or has another checksum, is damaged", async () => {
  const webp = readFileSync(`${folder}/rgb.webp`);
  const cut = Buffer.from(webp.subarray(0, webp.length / 2));
  cut.writeUInt32LE(cut.length - 8, 4);
  expect(await isDamagedImage(imageInMemory([cut]))).toBe(true);
  const png = readFileSync(`${folder}/rgb.png`);
  const pixels = png.indexOf("IDAT") + 4;
  png[pixels + 9]! ^= 1;
  expect(await isDamagedImage(imageInMemory([png]))).toBe(true);
  png[pixels + 9]! ^= 1;
  expect(await isDamagedImage(imageInMemory([png.subarray(0, 9_000), png.subarray(9_000)]))).toBe(false);
});

test("a TIFF whose directory is zeros is damaged", () => {
  const bytes = readFileSync(`${folder}/rgb.tif`);
  expect(isCompleteForeign(imageInMemory([bytes]), "TIFF")).toBe(true);
  const directory = bytes.readUInt32LE(4);
  expect(isCompleteForeign(imageInMemory([bytes.subarray(0, directory), Buffer.alloc(400)]), "TIFF")).toBe(
    false,
  );
});
