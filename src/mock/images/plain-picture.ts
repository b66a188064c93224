import { crc32, inflateRawSync } from "node:zlib";
import type { ImageRecord } from "../store/records.ts";

/** Gray pictures of 600 x 800 pixels, compressed. */
const gray: Readonly<Record<ImageRecord["mime_type"], string>> = {
  "image/jpeg":
    "+3/j/20GZwYNDQ0NbQ1dIyNdexcbF/vYUD+/0NielJyUnJSeq62zW1tnt17d82Tn2p1P9vz///r1fwxwiIGbg1mBKYKRUZDh/xEGUQZGRgZUwPr/FgMHRHQJwygYBaNg8AP7/0cYRATQs/IBaFZmtGfISv9/EwA=",
  "image/png":
    "6wzwc+flkuJiYGDg9fRwCWJgYIpgYGBWYGRmYGA4uq6vnYGBgTnAJ8T1zp07jYxPkxgYGDgLPCKLGRiYX4Aw49bqoGwGBoYgTxfHkIpbbw8y8jIwMBxa8N0/l898AQPZoEGc+W0DA+PCpT/Pgriern4u65wSmgA=",
  "image/webp": "C/J0c7NgYGAId3UKCAuw8NFmYGDQDz90nIE94F3R9N3/GRk9L/3/n+Ly3/jf5/n//zy3///zfD2MmS7MAAA=",
};

/** Bytes of the start and the end of a PNG: its signature and header, and its last chunk. */
const pngHead = 33;

/** A gray picture with `text` inside, so that no two are the same file: for machines without the drawing library. */
export function plainPicture(type: ImageRecord["mime_type"], text: string): Buffer {
  const picture = inflateRawSync(Buffer.from(gray[type], "base64"));
  const note = Buffer.from(text);
  if (type === "image/jpeg") {
    // A comment after the start of the image.
    const size = Buffer.alloc(2);
    size.writeUInt16BE(note.length + 2);
    return Buffer.concat([picture.subarray(0, 2), Buffer.of(0xff, 0xfe), size, note, picture.subarray(2)]);
  }
  if (type === "image/png") {
    const body = Buffer.concat([Buffer.from("tEXtComment\0"), note]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(body.length - 4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([picture.subarray(0, pngHead), size, body, sum, picture.subarray(pngHead)]);
  }
  // A chunk that readers skip, of an even length, at the end of the file.
  const size = Buffer.alloc(4);
  size.writeUInt32LE(note.length);
  const chunk = Buffer.concat([Buffer.from("NOTE"), size, note, Buffer.alloc(note.length % 2)]);
  const whole = Buffer.concat([picture, chunk]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
}
