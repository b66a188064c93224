import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { decisionFileColumns } from "../../../../src/flows/generate/columns/decisions.ts";
import type { GalleryData, GalleryEntry } from "../../../../src/flows/generate/gallery/describe-run.ts";
import { openThumbnailer } from "../../../../src/flows/generate/gallery/fetch-images.ts";
import { imageBlock, pageAround } from "../../../../src/flows/generate/gallery/write-gallery.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

export const entry = (given: Partial<GalleryEntry> & { line: number }): GalleryEntry => ({
  taskId: `task-${given.line}`,
  status: "succeeded",
  product: 0,
  modelId: "mdl_001",
  modelName: "Amara",
  subtype: null,
  style: null,
  background: "studio",
  angleShot: "full-front",
  reason: null,
  file: null,
  image: 0,
  photo: 0,
  ...given,
});

export const sampleData = (given: Partial<GalleryData> = {}): GalleryData => ({
  run: "run_1",
  kind: "tryon",
  title: "looks.csv",
  decisionsFile: "looks.decisions.csv",
  columns: decisionFileColumns,
  commands: {
    record: "cat tasks review looks.decisions.csv",
    rerun: "cat tryon --rerun looks.decisions.csv",
  },
  csv: { delimiter: ",", lineEnd: "\n", marked: false },
  folder: null,
  imagesPerBlock: 2,
  products: [
    { id: "id-1", reference: "DRESS-1", name: "Red dress", photos: [{ image: 0, orientation: "front" }] },
    { id: "id-2", reference: "COAT-2", name: "Coat", photos: [{ image: 1, orientation: "front" }] },
  ],
  results: [
    entry({ line: 2 }),
    entry({ line: 3, modelId: "mdl_002", modelName: "Bastian", background: "#f4f1ea", image: 1 }),
    entry({ line: 4, product: 1, angleShot: "half-front", image: 2 }),
    entry({
      line: 5,
      product: 1,
      status: "failed",
      reason: "generation_failed: no face found",
      image: null,
    }),
    entry({ line: 6, product: 1, angleShot: "close-up", image: 3 }),
  ],
  ...given,
});

/** An image of one color, as the page has it. */
export async function plainImage(color: string): Promise<string> {
  const png = await sharp({ create: { width: 30, height: 40, channels: 3, background: color } })
    .png()
    .toBuffer();
  return (await (
    await openThumbnailer()
  )(png))!;
}

/** The image of all pages: only its size matters. */
let sampleImage: Promise<string> | undefined;

/** Writes a page into a folder of its own; gives its path. The last image is missing. */
export async function writePage(
  data: GalleryData,
  saved: Readonly<Record<string, Uint8Array>> = {},
): Promise<string> {
  const folder = temporaryFolder();
  sampleImage ??= plainImage("#c04040");
  const image = await sampleImage;
  const { before, after } = pageAround(data);
  const blocks = imageBlock(0, [image, image]) + imageBlock(1, [image, null]);
  const path = join(folder, "review.html");
  writeFileSync(path, before + blocks + after);
  for (const [name, bytes] of Object.entries(saved)) {
    mkdirSync(join(folder, data.folder ?? ""), { recursive: true });
    writeFileSync(join(folder, data.folder ?? "", name), bytes);
  }
  return path;
}
