import { imageSize } from "image-size";

/** Width and height of a JPEG, PNG or WebP in pixels; null if the header cannot be read. */
export function sizeOfImage(bytes: Uint8Array): { width: number; height: number } | null {
  try {
    const { width, height } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    return null;
  }
}
