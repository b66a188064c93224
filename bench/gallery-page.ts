// Writes a gallery of so many results, with thumbnails of about 12 KB each: gallery-page.ts FILE RESULTS.
import { writeFileSync } from "node:fs";
import sharp from "sharp";
import { savedColumns } from "../src/flows/generate/columns/decisions.ts";
import { openThumbnailer } from "../src/flows/generate/gallery/fetch-images.ts";
import { imageBlock, pageAround } from "../src/flows/generate/gallery/write-gallery.ts";

const [file, count] = process.argv.slice(2) as [string, string];
const perProduct = 12;
const imagesPerBlock = 40;

const thumbnail = await openThumbnailer();
/** Ten different images are enough; the page holds each many times. */
const samples = await Promise.all(
  Array.from({ length: 10 }, async (_, at) => {
    const noise = { type: "gaussian" as const, mean: 90 + 10 * at, sigma: 30 };
    const picture = sharp({ create: { width: 900, height: 1200, channels: 3, background: "#888", noise } });
    return (await thumbnail(await picture.blur(1.1).png().toBuffer()))!;
  }),
);
const images: string[] = [];
const add = () => images.push(samples[images.length % samples.length]!) - 1;
const products = Array.from({ length: Math.ceil(Number(count) / perProduct) }, (_, at) => ({
  id: `product-${at}`,
  reference: `DRESS-${String(at).padStart(4, "0")}`,
  name: "Pleated linen dress, burgundy",
  photos: [{ image: add(), orientation: "front" }],
}));
const results = Array.from({ length: Number(count) }, (_, at) => ({
  line: at + 2,
  taskId: `task-${at}`,
  status: "succeeded",
  product: Math.floor(at / perProduct),
  modelId: `mdl_00${at % 3}`,
  modelName: ["Amara", "Bastian", "Chen"][at % 3]!,
  subtype: null,
  style: null,
  background: "studio",
  angleShot: "full-front",
  reason: null,
  file: null,
  image: add(),
  photo: 0,
}));
const { before, after } = pageAround({
  ...{ run: "bench", kind: "tryon", title: "looks.csv", decisionsFile: "looks.decisions.csv" },
  ...{ columns: savedColumns, commands: {}, folder: null },
  ...{ imagesPerBlock, products, results, csv: { delimiter: ",", lineEnd: "\n", marked: false } },
});
let blocks = "";
for (let at = 0; at < images.length; at += imagesPerBlock)
  blocks += imageBlock(at / imagesPerBlock, images.slice(at, at + imagesPerBlock));
writeFileSync(file, before + blocks + after);
