import sharp from "sharp";
import { onTestFinished, vi } from "vitest";
import { Pictures } from "../../src/mock/images/pictures.ts";

/** From now on, every picture of the mock is one whose XMP says that a camera took it: it cannot be labeled. */
export async function ownPicture(): Promise<Buffer> {
  const xmp =
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
    `<r:Description r:about="" xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"` +
    ` e:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"/></r:RDF></x:xmpmeta>`;
  const blank = sharp({ create: { width: 9, height: 7, channels: 3, background: "#c33" } });
  const picture = await blank.withXmp(xmp).png().toBuffer();
  const drawn = vi.spyOn(Pictures.prototype, "toBytes").mockReturnValue(picture);
  onTestFinished(() => drawn.mockRestore());
  return picture;
}
