import type sharpLibrary from "sharp";
import type { Sharp } from "sharp";
import type { Graphics } from "./terminal-graphics.ts";

/** The size in pixels: about a sixth of a screen. */
const box = { width: 320, height: 240 } as const;
/** The largest image in pixels: more than any camera gives, and no bomb. */
const mostPixels = 120_000_000;
/** The longest text of one Kitty escape sequence. */
const kittyChunk = 4096;
const sixelColors = 128;

/** An image as the escape sequences that draw it small, with a line end. Throws for bytes that are not an image. */
export async function pictureText(graphics: Graphics, image: Uint8Array): Promise<string> {
  const { default: sharp } = await import("sharp");
  const scaled = scaledBy(sharp, image);
  return `${await drawn[graphics](scaled)}\n`;
}

const scaledBy = (sharp: typeof sharpLibrary, image: Uint8Array): Sharp =>
  sharp(image, { limitInputPixels: mostPixels, failOn: "truncated" })
    .rotate()
    .resize({ ...box, fit: "inside", withoutEnlargement: true });

const drawn: Readonly<Record<Graphics, (image: Sharp) => Promise<string>>> = {
  async iterm2(image) {
    const { data, info } = await image.png({ palette: true }).toBuffer({ resolveWithObject: true });
    const size = `width=${info.width}px;height=${info.height}px`;
    return `\x1b]1337;File=inline=1;size=${data.length};${size}:${data.toString("base64")}\x07`;
  },

  async kitty(image) {
    const text = (await image.png({ palette: true }).toBuffer()).toString("base64");
    let sequences = "";
    for (let at = 0; at < text.length; at += kittyChunk) {
      // f=100 is PNG, a=T draws it, q=2 keeps the terminal from answering, m=1 announces more.
      const first = at === 0 ? "f=100,a=T,q=2," : "";
      const more = at + kittyChunk < text.length ? 1 : 0;
      sequences += `\x1b_G${first}m=${more};${text.slice(at, at + kittyChunk)}\x1b\\`;
    }
    return sequences;
  },

  async sixel(image) {
    const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const { image2sixel } = await import("sixel");
    return image2sixel(new Uint8Array(data), info.width, info.height, sixelColors);
  },
};
