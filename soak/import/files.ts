import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { stringify } from "csv-stringify/sync";
import { mostImages, type SoakImage, type SoakRow } from "./rows.ts";

/** The path of a photo, relative to the file. */
const pathOf = ({ photo, copy }: { photo: number; copy: number }): string => `photos/${photo}-${copy}.png`;

/** A source as written in the file. */
export const cellOf = (image: SoakImage): string => ("url" in image ? image.url : pathOf(image));

/** A source as the service and the ledger identify it: a URL, or a digest of the content. */
export const sourceOf = (image: SoakImage): string =>
  "url" in image ? image.url : contentSource(photoBytes(image.photo));

export const contentSource = (bytes: Uint8Array): string =>
  `content ${createHash("sha256").update(bytes).digest("hex")}`;

/** Writes the rows as an import file. */
export function writeRows(path: string, rows: readonly SoakRow[], format: "csv" | "ndjson"): void {
  if (format === "ndjson") {
    const lines = rows.map(({ images, ...row }) =>
      JSON.stringify({ ...row, images: images.map((one) => ("url" in one ? one : { path: pathOf(one) })) }),
    );
    writeFileSync(path, `${lines.join("\n")}\n`);
    return;
  }
  const columns = Array.from({ length: mostImages }, (_, index) => `image_${index + 1}`);
  const cells = rows.map(({ reference, name, description, sex, images }) => [
    ...[reference, name, description ?? "", sex ?? ""],
    ...columns.map((_, index) => (images[index] === undefined ? "" : cellOf(images[index]))),
  ]);
  writeFileSync(path, stringify([["reference", "name", "description", "sex", ...columns], ...cells]));
}

/** Writes every photo of the rows next to the file in `folder`. */
export function writePhotos(folder: string, rows: readonly SoakRow[]): void {
  mkdirSync(join(folder, "photos"), { recursive: true });
  for (const { images } of rows) {
    for (const image of images)
      if ("photo" in image) writeFileSync(join(folder, pathOf(image)), photoBytes(image.photo));
  }
}

const made = new Map<number, Buffer>();

/** A picture of one pixel that differs for each number; every fifth has 200 kB, so that it takes several packets. */
export function photoBytes(number: number): Buffer {
  let png = made.get(number);
  if (png === undefined) {
    const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
    const point = deflateSync(Buffer.from([0, number & 255, (number >> 8) & 255, 7]));
    const text = Buffer.from(`Comment\0${String(number).padEnd(number % 5 === 0 ? 200_000 : 20, "x")}`);
    const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const chunks = [
      chunk("IHDR", head),
      chunk("tEXt", text),
      chunk("IDAT", point),
      chunk("IEND", Buffer.alloc(0)),
    ];
    png = Buffer.concat([signature, ...chunks]);
    made.set(number, png);
  }
  return png;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
