import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { isCompleteImage, withImageFile } from "../../../src/flows/files/image-bytes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const noise = Buffer.from(Array.from({ length: 64 * 64 * 3 }, (_, at) => (at * at * 31) % 251));
const image = sharp(noise, { raw: { width: 64, height: 64, channels: 3 } });

function isComplete(bytes: Buffer): boolean {
  const path = join(temporaryFolder(), "image");
  writeFileSync(path, bytes);
  return withImageFile(path, isCompleteImage);
}

describe("an image", () => {
  test.for(["jpeg", "png", "webp"] as const)("is complete only with its end: %s", async (format) => {
    const bytes = await image.clone().toFormat(format).toBuffer();
    expect(isComplete(bytes)).toBe(true);
    expect(isComplete(Buffer.concat([bytes, Buffer.alloc(200_000, 1)]))).toBe(true);
    for (const kept of [20, Math.floor(bytes.length / 2), bytes.length - 2])
      expect(isComplete(bytes.subarray(0, kept)), `${format}, ${kept} bytes`).toBe(false);
  });

  test("is complete if it is a progressive JPEG", async () => {
    const bytes = await image.clone().jpeg({ progressive: true }).toBuffer();
    expect(isComplete(bytes)).toBe(true);
    expect(isComplete(bytes.subarray(0, -2))).toBe(false);
  });

  test("is incomplete if only its thumbnail has an end", async () => {
    const bytes = await image.clone().jpeg().toBuffer();
    const thumbnail = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 6]), Buffer.from([0, 0, 0xff, 0xd9])]);
    const whole = Buffer.concat([bytes.subarray(0, 2), thumbnail, bytes.subarray(2)]);
    expect(isComplete(whole)).toBe(true);
    expect(isComplete(whole.subarray(0, -2))).toBe(false);
  });

  test("is complete if bytes fill the space before a marker of a JPEG", async () => {
    const bytes = await image.clone().jpeg().toBuffer();
    const filled = Buffer.concat([bytes.subarray(0, 2), Buffer.alloc(3, 0xff), bytes.subarray(2)]);
    expect(isComplete(filled)).toBe(true);
    expect(isComplete(filled.subarray(0, -2))).toBe(false);
  });

  test("of an unknown type is not judged", () => {
    expect(isComplete(Buffer.from("GIF89a and so on"))).toBe(true);
  });
});
