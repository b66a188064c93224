// Prints how many microseconds the label of an image takes, with the digest of the image as sent: label-bytes.ts IMAGES BYTES.
import sharp from "sharp";
import { labelSplices, splicedChunks } from "../src/flows/files/ai-label.ts";
import { hashParts } from "../src/flows/files/download-file.ts";
import { imageInMemory } from "../src/flows/files/image-bytes.ts";

const [images, bytes] = process.argv.slice(2).map(Number) as [number, number];
const side = Math.round(Math.sqrt(bytes / 3));
const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
const create = { width: side, height: side, channels: 3, background: "#888", noise } as const;
const chunks = [await sharp({ create }).png({ compressionLevel: 0 }).toBuffer()];

async function label(): Promise<void> {
  splicedChunks(chunks, labelSplices(imageInMemory(chunks), "trainedAlgorithmicMedia")!);
  await hashParts(chunks);
}

// The first ones are compiled.
for (let count = 0; count < 200; count++) await label();
const began = process.hrtime.bigint();
for (let count = 0; count < images; count++) await label();
console.log(Math.round(Number(process.hrtime.bigint() - began) / 1_000 / images));
