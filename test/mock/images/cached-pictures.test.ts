import { beforeEach, expect, test, vi } from "vitest";
import { type PictureSource, Pictures } from "../../../src/mock/images/pictures.ts";
import { EndedError, Life } from "../../../src/mock/work/life.ts";
import { until } from "../../support/until.ts";

/** A renderer of pictures of a megabyte, each of which is finished when the test says so. */
const pen = vi.hoisted(() => ({ drawn: 0, finish: [] as (() => void)[] }));
vi.mock("sharp", () => {
  const toBuffer = () =>
    new Promise<Buffer>((resolve) => {
      pen.drawn++;
      pen.finish.push(() => resolve(Buffer.alloc(1 << 20)));
    });
  const drawing = { png: () => ({ toBuffer }), webp: () => ({ toBuffer }), jpeg: () => ({ toBuffer }) };
  return { default: () => drawing };
});
beforeEach(() => {
  pen.drawn = 0;
});

const image = (seed: string): PictureSource => ({
  mime_type: "image/jpeg",
  bytes: null,
  subject: "bag",
  seed,
});
const drawingBegins = () => until(() => pen.finish.length > 0);
const finish = () => pen.finish.shift()!();

async function read(pictures: Pictures, seed: string): Promise<void> {
  const picture = pictures.toBytes(image(seed), new Life());
  if (picture instanceof Buffer) throw new Error("nothing was uploaded");
  const before = pen.drawn;
  await Promise.race([picture, drawingBegins()]);
  if (pen.drawn > before) finish();
  await picture;
}

test("pictures canceled during drawing take no space in the cache", async () => {
  const pictures = new Pictures();
  await read(pictures, "kept");
  // More than the cache can hold.
  for (let time = 0; time < 40; time++) {
    const life = new Life();
    const left = Promise.resolve(pictures.toBytes(image("left"), life));
    await drawingBegins();
    life.end();
    await expect(left).rejects.toBeInstanceOf(EndedError);
    finish();
    await new Promise(setImmediate);
  }
  expect(pen.drawn).toBe(41);
  await read(pictures, "kept");
  expect(pen.drawn).toBe(41);
});
