import sharp from "sharp";
import { onTestFinished, vi } from "vitest";
import { Pictures } from "../../src/mock/images/pictures.ts";

const photoXmp =
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
  `<r:Description r:about="" xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"` +
  ` e:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"/></r:RDF></x:xmpmeta>`;

/** A PNG whose XMP says that a camera took it: it cannot be labeled. */
const unlabelable = (): Promise<Buffer> =>
  sharp({ create: { width: 9, height: 7, channels: 3, background: "#c33" } })
    .withXmp(photoXmp)
    .png()
    .toBuffer();

/** From now on, this is every picture of the mock: one that cannot be labeled, unless given. */
export async function ownPicture(given?: Buffer): Promise<Buffer> {
  const picture = given ?? (await unlabelable());
  const drawn = vi.spyOn(Pictures.prototype, "toBytes").mockReturnValue(picture);
  onTestFinished(() => drawn.mockRestore());
  return picture;
}
