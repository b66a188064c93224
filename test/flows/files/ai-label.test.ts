import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { labelSplices, splicedChunks } from "../../../src/flows/files/ai-label.ts";
import { imageInMemory } from "../../../src/flows/files/image-bytes.ts";
import type { DigitalSource } from "../../../src/flows/files/xmp.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const trained = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";

/** The labeled bytes; null if the image stays as it was sent. */
function labeled(image: Buffer, source: DigitalSource = "trainedAlgorithmicMedia"): Buffer | null {
  // In two chunks, of which the first one ends in the head.
  const chunks = [image.subarray(0, 30), image.subarray(30)];
  const splices = labelSplices(imageInMemory(chunks), source);
  return splices && Buffer.concat(splicedChunks(chunks, splices));
}

const xmpWith = (description: string) =>
  `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">` +
  `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${description}</r:RDF></x:xmpmeta>` +
  `<?xpacket end="w"?>`;
const titled = xmpWith(
  `<r:Description r:about="uuid:1" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="Grün"/>`,
);

/** An image with an empty manifest store (C2PA 2.1, A.3), or a JUMBF box of another type. */
function withManifest(image: Buffer, format: "jpeg" | "png" | "webp", type = "c2pa"): Buffer {
  const box = (name: string, ...content: Buffer[]) => {
    const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name), ...content]);
    bytes.writeUInt32BE(bytes.length, 0);
    return bytes;
  };
  const uuid = Buffer.concat([Buffer.from(type), Buffer.from("00110010800000aa00389b71", "hex")]);
  const store = box("jumb", box("jumd", uuid, Buffer.from("\x03c2pa\0")));
  if (format === "jpeg") {
    const head = Buffer.from([0xff, 0xeb, 0, 10 + store.length, 0x4a, 0x50, 0, 1, 0, 0, 0, 1]);
    return Buffer.concat([image.subarray(0, 2), head, store, image.subarray(2)]);
  }
  if (format === "png") {
    const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from("caBX"), store, Buffer.alloc(4)]);
    chunk.writeUInt32BE(store.length, 0);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
    return Buffer.concat([image.subarray(0, 33), chunk, image.subarray(33)]);
  }
  const size = Buffer.alloc(4);
  size.writeUInt32LE(store.length);
  const all = Buffer.concat([image, Buffer.from("C2PA"), size, store, Buffer.alloc(store.length % 2)]);
  all.writeUInt32LE(all.length - 8, 4);
  return all;
}

interface Kind {
  readonly format: "jpeg" | "png" | "webp" | "lossless";
  readonly width: number;
  readonly height: number;
  readonly alpha: boolean;
  readonly xmp: string | null;
  readonly seed: number;
}

async function imageOf({ format, width, height, alpha, xmp, seed }: Kind): Promise<Buffer> {
  const channels = alpha ? 4 : 3;
  const pixels = Buffer.from(Array.from({ length: width * height * channels }, (_, at) => (at * seed) % 256));
  const raw = sharp(pixels, { raw: { width, height, channels } });
  const image = xmp === null ? raw : raw.withXmp(xmp);
  if (format === "jpeg") return image.jpeg().toBuffer();
  return format === "png"
    ? image.png().toBuffer()
    : image.webp({ lossless: format === "lossless" }).toBuffer();
}

const pixelsOf = (image: Buffer) => sharp(image).raw().toBuffer();
const xmpOf = async (image: Buffer) => String((await sharp(image).metadata()).xmp);

const kind: fc.Arbitrary<Kind> = fc.record({
  format: fc.constantFrom("jpeg", "png", "webp", "lossless"),
  width: fc.integer({ min: 1, max: 40 }),
  height: fc.integer({ min: 1, max: 40 }),
  alpha: fc.boolean(),
  xmp: fc.constantFrom(null, titled),
  seed: fc.integer({ min: 1, max: 255 }),
});

test("the label is added once, beside the XMP that an image has, and no pixel changes", async () => {
  await fc.assert(
    fc.asyncProperty(kind, async (given) => {
      const image = await imageOf(given);
      const result = labeled(image)!;
      expect(await pixelsOf(result)).toEqual(await pixelsOf(image));
      expect((await sharp(result).metadata()).hasAlpha).toBe((await sharp(image).metadata()).hasAlpha);
      const xmp = await xmpOf(result);
      expect(xmp.split(trained)).toHaveLength(2);
      expect(xmp.includes('dc:source="Grün"')).toBe(given.xmp !== null);
      expect(labeled(result)).toEqual(result);
    }),
    { numRuns: repetitions(15, 1_000) },
  );
});

test("bytes that are damaged in any way are labeled without a change of pixels, or left alone", async () => {
  const damage = fc.record({
    kind,
    cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    flips: fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ kind, cut, flips }) => {
      const whole = await imageOf(kind);
      const image = Buffer.from(cut === null ? whole : whole.subarray(0, Math.floor(cut * whole.length)));
      for (const [at, value] of flips) if (at < image.length) image[at] = value;
      const result = labeled(image);
      if (result === null) return;
      const [before, after] = await Promise.all(
        [image, result].map((one) => pixelsOf(one).catch(() => null)),
      );
      if (before !== null) expect(after).toEqual(before);
    }),
    { numRuns: repetitions(30, 3_000) },
  );
});

describe("the bytes stay as sent", () => {
  const small: Kind = { format: "jpeg", width: 4, height: 4, alpha: false, xmp: null, seed: 7 };
  const sourced = (value: string) =>
    xmpWith(
      `<r:Description r:about="" xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" e:DigitalSourceType="${value}"/>`,
    );

  test("with a label of the service, which counts", async () => {
    const image = await imageOf({ ...small, xmp: sourced(trained) });
    expect(labeled(image)).toEqual(image);
  });

  test.each([
    ["XMP that says a camera made it", { ...small, xmp: sourced("http://cv.iptc.org/x/digitalCapture") }],
    ["XMP without RDF", { ...small, xmp: "<x/>" }],
  ] as const)("with %s", async (_, given) => {
    expect(labeled(await imageOf(given))).toBeNull();
  });

  test.each(["jpeg", "png", "webp"] as const)("of a %s with a signed manifest", async (format) => {
    const image = await imageOf({ ...small, format });
    const signed = withManifest(image, format);
    expect(await pixelsOf(signed)).toEqual(await pixelsOf(image));
    expect(labeled(signed)).toBeNull();
    const marked = withManifest(labeled(image)!, format);
    expect(labeled(marked)).toEqual(marked);
    if (format === "jpeg") expect(labeled(withManifest(image, format, "text"))).not.toBeNull();
  });

  test.each(["jpeg", "png", "webp"] as const)("of a %s that is cut off in its pixels", async (format) => {
    const image = await imageOf({ ...small, format, width: 40, height: 40 });
    expect(labeled(image.subarray(0, -30))).toBeNull();
    const marked = labeled(image)!;
    expect(labeled(marked.subarray(0, -30))).toBeNull();
  });

  test("with XMP that leaves no room", async () => {
    const image = await imageOf(small);
    const withXmpOf = (length: number) => {
      const content = `http://ns.adobe.com/xap/1.0/\0${xmpWith(`<!--${"x".repeat(length)}-->`)}`;
      const head = Buffer.from([0xff, 0xe1, 0, 0]);
      head.writeUInt16BE(2 + Buffer.byteLength(content), 2);
      return Buffer.concat([image.subarray(0, 2), head, Buffer.from(content), image.subarray(2)]);
    };
    expect(labeled(withXmpOf(65_000))).not.toBeNull();
    expect(labeled(withXmpOf(65_200))).toBeNull();
  });

  test.each(["GIF89a", "", "\u00ff\u00d8\u00ff"])("if it is no image of a known type: %j", (bytes) => {
    expect(labeled(Buffer.from(bytes, "latin1"))).toBeNull();
  });
});

const iptc = 'xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"';
const dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"';
const camera = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture";
const described = (inside: string, attributes = "") =>
  xmpWith(`<r:Description r:about="" ${iptc} ${dc} ${attributes}>${inside}</r:Description>`);

describe.each(["jpeg", "png", "webp"] as const)("the label in the XMP of a %s", (format) => {
  const withXmp = (xmp: string) => imageOf({ format, width: 4, height: 4, alpha: false, xmp, seed: 7 });

  test.each([
    ["an attribute", described("", `e:DigitalSourceType="${trained}"`)],
    ["an element", described(`<e:DigitalSourceType> ${trained}\n</e:DigitalSourceType>`)],
    ["a resource", described(`<e:DigitalSourceType r:resource="${trained}"/>`)],
    [
      "the one of a composite",
      described("", `e:DigitalSourceType="${trained.replace("trained", "compositeWithTrained")}"`),
    ],
  ])("may be %s", async (_, xmp) => {
    const image = await withXmp(xmp);
    expect(labeled(image)).toEqual(image);
  });

  test.each([
    [
      "says a camera made it, next to a word about models",
      described(
        "<dc:Description>not trainedAlgorithmicMedia</dc:Description>",
        `e:DigitalSourceType="${camera}"`,
      ),
    ],
    [
      "says that a camera and a model made it",
      described(`<e:DigitalSourceType>${camera}</e:DigitalSourceType>`, `e:DigitalSourceType="${trained}"`),
    ],
    ["ends in a longer word", described("", `e:DigitalSourceType="http://x/untrainedAlgorithmicMedia"`)],
    ["is not valid XML", described(`<dc:title>${trained}`)],
    [
      "has the end of its descriptions in a comment",
      xmpWith("").replace("</r:RDF>", "<!--</r:RDF>--></r:RDF >"),
    ],
  ])("is not added to XMP that %s", async (_, xmp) => {
    expect(labeled(await withXmp(xmp))).toBeNull();
  });

  test.each([
    [
      "words in a description",
      described("", 'dc:description="no trainedAlgorithmicMedia; DigitalSourceType missing"'),
    ],
    ["an attribute in a text", described("", `dc:description="e:DigitalSourceType='${trained}'"`)],
    ["another namespace", described("", `dc:DigitalSourceType="${trained}"`)],
    ["a comment", described(`<!-- e:DigitalSourceType="${trained}" -->`)],
    [
      "an image that it was made of",
      described(
        `<dc:source r:parseType="Resource"><e:DigitalSourceType>${trained}</e:DigitalSourceType></dc:source>`,
      ),
    ],
  ])("is added where only %s has its words", async (_, xmp) => {
    const image = await withXmp(xmp);
    const result = labeled(image)!;
    expect(result.length).toBeGreaterThan(image.length);
    expect(await xmpOf(result)).toContain(` Iptc4xmpExt:DigitalSourceType="${trained}"/></r:RDF>`);
    expect(labeled(result)).toEqual(result);
  });
});

const hasTools = ["exiftool -ver", "identify -version"].every(
  (line) => spawnSync(line.split(" ")[0]!, line.split(" ").slice(1)).status === 0,
);

longTest.skipIf(!hasTools)(
  "exiftool reads the label without a warning, and ImageMagick sees the same pixels",
  async () => {
    const folder = temporaryFolder();
    const signature = (path: string) =>
      execFileSync("identify", ["-quiet", "-format", "%#", path], { encoding: "utf8" });
    for (const format of ["jpeg", "png", "webp", "lossless"] as const)
      for (const xmp of [null, titled]) {
        const image = await imageOf({
          format,
          width: 31,
          height: 20,
          alpha: format === "lossless",
          xmp,
          seed: 7,
        });
        const path = join(folder, `image.${format === "lossless" ? "webp" : format}`);
        writeFileSync(path, image);
        const before = signature(path);
        writeFileSync(path, labeled(image, "compositeWithTrainedAlgorithmicMedia")!);
        expect(signature(path)).toBe(before);
        const line = ["-validate", "-warning", "-error", "-s3", "-XMP-iptcExt:DigitalSourceType", path];
        const value = trained.replace("trained", "compositeWithTrained");
        expect(execFileSync("exiftool", line, { encoding: "utf8" })).toBe(`OK\n${value}\n`);
      }
  },
);
