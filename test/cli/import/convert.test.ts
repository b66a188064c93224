import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { isLong } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const red = { r: 200, g: 30, b: 40 };
const picture = (width: number, height: number, background = red) =>
  sharp({ create: { width, height, channels: 3, background } });

/** An uncompressed BMP of 2 x 2 pixels: red and green above blue and white. */
function bmp(): Buffer {
  const bytes = Buffer.alloc(54 + 16);
  bytes.write("BM", 0, "latin1");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(2, 18);
  bytes.writeInt32LE(2, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  Buffer.from([255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0]).copy(bytes, 54);
  return bytes;
}

async function worldWith(photos: Record<string, Uint8Array>) {
  const world = await createWorld();
  for (const [name, bytes] of Object.entries(photos)) world.write(name, bytes);
  const rows = Object.keys(photos).map((name, index) => `A-${index},Dress,${name}\n`);
  world.write("rows.csv", `reference,name,images\n${rows.join("")}`);
  const tmp = join(world.folder, "tmp");
  world.write("tmp/keep", "");
  /** The images that the service has, in the order of the rows. */
  const uploaded = async () => {
    const products = (await world.cat("products list --json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const ids = products
      .sort((a, b) => (a.reference < b.reference ? -1 : 1))
      .map(({ images }) => images[0].id);
    const files = [];
    for (const id of ids) {
      await world.cat(["images", "get", id, "--save", join(world.folder, `saved-${id}`), "--yes"]);
      const name = readdirSync(world.folder).find((one) => one.startsWith(`saved-${id}`))!;
      files.push(readFileSync(join(world.folder, name)));
    }
    return files;
  };
  return { world, tmp, uploaded };
}

test("without --convert, the message about such a photo names it", async () => {
  const { world } = await worldWith({
    "a.tif": await picture(4, 4).tiff().toBuffer(),
    "b.jpg": Buffer.concat([await picture(4, 4).jpeg().toBuffer(), Buffer.alloc(10 * 1024 * 1024)]),
    "c.bmp": bmp(),
    "d.txt": Buffer.from("text"),
    "e.heic": Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
  });
  const ran = await world.cat("import rows.csv");
  expect([ran.exit, ran.stderr.split("\n").slice(0, 5)]).toEqual([
    3,
    [
      'rows.csv:2  images  not_an_image  "a.tif" is a TIFF image, not a JPEG, PNG or WebP image; add --convert to upload it as JPEG',
      expect.stringMatching(
        /^rows.csv:3 {2}images {2}too_large .* \(10 MB\); add --convert to upload it as JPEG$/,
      ),
      'rows.csv:4  images  not_an_image  "c.bmp" is a BMP image, not a JPEG, PNG or WebP image; add --convert to upload it as JPEG',
      'rows.csv:5  images  not_an_image  "d.txt" does not contain a JPEG, PNG or WebP image',
      'rows.csv:6  images  not_an_image  "e.heic" is a HEIC image, not a JPEG, PNG or WebP image: save it as JPEG',
    ],
  ]);
});

test("--convert uploads them upright, in sRGB, as JPEG, once, and keeps the originals", async () => {
  const photos: Record<string, Buffer> = {
    "a.tif": await picture(40, 20).withMetadata({ orientation: 6 }).tiff().toBuffer(),
    "b.avif": await picture(8, 4).avif().toBuffer(),
    "c.gif": await picture(8, 4).gif().toBuffer(),
    "d.bmp": bmp(),
    "e.jpg": await picture(8, 4).jpeg().toBuffer(),
    // Another test has a large photo, too.
    ...(isLong && { "f.jpg": await picture(8_000, 4_000).jpeg().toBuffer() }),
    "g.png": Buffer.concat([await picture(9, 4).png().toBuffer(), Buffer.alloc(10 * 1024 * 1024)]),
    "h.tif": await picture(4, 4, { r: 0, g: 255, b: 0 }).withIccProfile("p3").tiff().toBuffer(),
  };
  const count = Object.keys(photos).length;
  const { world, tmp, uploaded } = await worldWith(photos);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = tmp;
  try {
    const ran = await world.cat("import rows.csv --convert");
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(
        new RegExp(`^Imported ${count} rows from rows.csv in .* s: ${count} created\\.$`),
      ),
      `  ${count - 1} photos converted to JPEG; the originals are unchanged`,
    ]);
    expect(readdirSync(tmp)).toEqual(["keep"]);
    for (const [name, bytes] of Object.entries(photos))
      expect(readFileSync(join(world.folder, name)).equals(bytes)).toBe(true);
    const files = await uploaded();
    const seen = await Promise.all(files.map((file) => sharp(file).metadata()));
    expect(seen.map(({ format, width, height }) => [format, width, height])).toEqual([
      ["jpeg", 20, 40],
      ["jpeg", 8, 4],
      ["jpeg", 8, 4],
      ["jpeg", 2, 2],
      ["jpeg", 8, 4],
      ...(isLong ? [["jpeg", 7745, 3873]] : []),
      ["jpeg", 9, 4],
      ["jpeg", 4, 4],
    ]);
    expect(files[4]!.equals(photos["e.jpg"]!)).toBe(true);
    const firstPixel = await sharp(files[3]).raw().toBuffer();
    expect([firstPixel[0]! > 200, firstPixel[1]! < 60, firstPixel[2]! < 60]).toEqual([true, true, true]);
    // Without its profile, this green would have been stored as 117, 251, 76.
    const [r, g, b] = await sharp(files.at(-1)).raw().toBuffer();
    expect([r! < 20, g! > 240, b! < 20]).toEqual([true, true, true]);
    const uploads = () =>
      world.requests().filter(({ method, path }) => `${method} ${path}` === "POST /v1/images").length;
    const before = uploads();
    // Not with the large photo, which takes long.
    world.write("rows.csv", "reference,name,images\nA-0,Dress,a.tif\nA-3,Dress,d.bmp\n");
    const again = await world.cat("import rows.csv --convert --fresh --photos all");
    expect([again.exit, uploads()]).toEqual([0, before]);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}, 120_000);

longTest(
  "--convert sends a photo again that was uploaded as it is",
  async () => {
    const large = await picture(6_000, 5_010).jpeg().toBuffer();
    const { world, uploaded } = await worldWith({ "a.jpg": large });
    expect((await world.cat("import rows.csv")).exit).toBe(0);
    const ran = await world.cat("import rows.csv --convert --photos all");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain("  1 photo converted to JPEG; the originals are unchanged\n");
    const uploads = () =>
      world.requests().filter(({ method, path }) => `${method} ${path}` === "POST /v1/images").length;
    expect(uploads()).toBe(2);
    const [{ images }] = world.products() as unknown as [{ images: { id: string }[] }];
    expect(images).toHaveLength(2);
    await world.cat(["images", "get", images[1]!.id, "--save", "converted.jpg"]);
    const { width, height } = await sharp(join(world.folder, "converted.jpg")).metadata();
    expect([width, height]).toEqual([5994, 5005]);
    expect((await uploaded())[0]!.equals(large)).toBe(true);
    const again = await world.cat("import rows.csv --convert --photos all --fresh");
    expect([again.exit, uploads()]).toEqual([0, 2]);
  },
  60_000,
);

test("a damaged photo that would be converted is a problem of its row, also in a dry run", async () => {
  const whole = await sharp({
    create: {
      width: 200,
      height: 200,
      channels: 3,
      background: red,
      noise: { type: "gaussian", mean: 128, sigma: 50 },
    },
  })
    .tiff()
    .toBuffer();
  const { world } = await worldWith({ "a.tif": whole.subarray(0, whole.length / 2), "b.tif": whole });
  const ran = await world.cat("import rows.csv --convert --dry-run");
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain('rows.csv:2  images  damaged_image  "a.tif" is a damaged TIFF image, its end');
  expect(ran.stderr).toContain("1 photo converted to JPEG; the originals are unchanged.\n");
  expect(world.requests()).toEqual([]);
  expect(
    createHash("sha256")
      .update(readFileSync(join(world.folder, "b.tif")))
      .digest("hex"),
  ).toBe(createHash("sha256").update(whole).digest("hex"));
});

test("cat import --convert exits with 2 when converted photos cannot be written to the temporary folder", async () => {
  const { world } = await worldWith({ "a.tif": await picture(4, 4).tiff().toBuffer() });
  const nowhere = join(world.folder, "nowhere");
  vi.stubEnv("TMPDIR", nowhere);
  try {
    expect(await world.cat("import rows.csv --convert")).toMatchObject({
      exit: 2,
      stderr: `error: cannot write converted photos to the temporary folder ${nowhere}: no such file or folder\nSet TMPDIR to a folder with enough space, in which you may write.\n`,
    });
  } finally {
    vi.unstubAllEnvs();
  }
});
