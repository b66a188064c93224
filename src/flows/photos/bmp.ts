/** A larger image takes too much memory. */
const mostPixels = 100_000_000;

/** An image of three bytes per pixel (red, green, blue), from its top left. */
export interface RawImage {
  readonly data: Buffer;
  readonly info: { readonly width: number; readonly height: number; readonly channels: 3 };
}

/**
 * Reads an uncompressed BMP with 8, 24 or 32 bits per pixel, the forms that programs write today; null for any other, or
 * for one whose pixels are incomplete. sharp reads no BMP.
 */
export function readBmp(bytes: Buffer): RawImage | null {
  if (bytes.length < 54 || bytes.readUInt32LE(14) < 40) return null;
  const start = bytes.readUInt32LE(10);
  const [width, signedHeight] = [bytes.readInt32LE(18), bytes.readInt32LE(22)];
  const [bits, compression] = [bytes.readUInt16LE(28), bytes.readUInt32LE(30)];
  const height = Math.abs(signedHeight);
  // Bit fields other than those of uncompressed pixels are rare.
  const isBgra = bits === 32 && compression === 3 && bytes.length > 66 && bytes.readUInt32LE(54) === 0xff0000;
  if (![8, 24, 32].includes(bits) || (compression !== 0 && !isBgra) || width <= 0 || height === 0)
    return null;
  if (width * height > mostPixels) return null;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  if (start + rowBytes * height > bytes.length) return null;
  const palette = 14 + bytes.readUInt32LE(14);
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    const row = start + rowBytes * (signedHeight > 0 ? height - 1 - y : y);
    for (let x = 0; x < width; x++) {
      const at = bits === 8 ? palette + bytes[row + x]! * 4 : row + (x * bits) / 8;
      const to = (y * width + x) * 3;
      data[to] = bytes[at + 2]!;
      data[to + 1] = bytes[at + 1]!;
      data[to + 2] = bytes[at]!;
    }
  }
  return { data, info: { width, height, channels: 3 } };
}
