import { imageSize } from "image-size";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { Pictures, plainPicture } from "../../../src/mock/images/pictures.ts";

const types = ["image/jpeg", "image/png", "image/webp"] as const;

test.each(types)(
  "a gray %s is a valid picture of 600 x 800 pixels, another file for another text",
  async (type) => {
    const [one, other] = [plainPicture(type, "coat 1"), plainPicture(type, "coat 22")];
    expect(one.equals(other)).toBe(false);
    expect(plainPicture(type, "coat 1").equals(one)).toBe(true);
    for (const picture of [one, other]) {
      expect(imageSize(picture)).toMatchObject({ width: 600, height: 800 });
      expect(`image/${(await sharp(picture, { failOn: "warning" }).metadata()).format}`).toBe(type);
      const { dominant } = await sharp(picture, { failOn: "warning" }).stats();
      expect(new Set(Object.values(dominant)).size).toBe(1);
    }
  },
);

test("pictures are gray where the drawing library is not installed", async () => {
  vi.doMock("sharp", () => {
    throw new Error("Cannot find package 'sharp'");
  });
  try {
    const image = { mime_type: "image/png", bytes: null, subject: "coat", seed: "1" } as const;
    const picture = await new Pictures().toBytes(image, new AbortController().signal);
    expect(picture.equals(plainPicture("image/png", "coat 1"))).toBe(true);
  } finally {
    vi.doUnmock("sharp");
  }
});
