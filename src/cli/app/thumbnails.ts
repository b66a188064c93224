import type { Sharp } from "sharp";
import { startTimeLimit } from "../../flows/run/stage.ts";
import type { Printing } from "../output/table.ts";
import type { Env } from "../settings/profile-names.ts";
import type { App } from "./app.ts";

/** Pictures may not delay the end of a command for longer, in milliseconds. */
const longestMs = 5_000;
/** More pictures would push the table off the screen. */
const mostPictures = 4;

/** A picture to show: its caption, and how its bytes are fetched; null if it cannot be had. */
export interface Thumbnail {
  readonly caption: string | null;
  fetch(fetcher: Fetcher): Promise<Uint8Array | null>;
}

type Fetcher = InstanceType<typeof import("../../flows/generate/gallery/fetch-images.ts").ImageFetcher>;

interface Wanted {
  /** False with `--no-thumbnail`. */
  readonly thumbnail: boolean;
  readonly printing: Printing<never>;
}

/**
 * Draws small pictures below a resource on a terminal that can. Prints nothing for programs, and nothing for
 * a picture that cannot be had within 5 seconds: a picture never fails a command. Throws only the reason of
 * an interrupt.
 */
export async function showThumbnails(
  app: App,
  pictures: readonly Thumbnail[],
  wanted: Wanted,
): Promise<void> {
  const graphics = graphicsFor(app, wanted);
  if (graphics === null || pictures.length === 0) return;
  const { clock, interrupt } = app.context;
  const timeLimit = startTimeLimit("picture", longestMs, { clock, signal: interrupt });
  try {
    const { ImageFetcher } = await import("../../flows/generate/gallery/fetch-images.ts");
    const client = await app.client();
    const fetcher = new ImageFetcher({ client, clock, signal: timeLimit.signal });
    for (const { caption, fetch } of pictures.slice(0, mostPictures)) {
      const image = await fetch(fetcher).catch(() => null);
      const text = image === null ? null : await pictureText(graphics, image).catch(() => null);
      if (text !== null) await app.io.text(caption === null ? text : `${app.io.visible(caption)}\n${text}`);
    }
  } finally {
    timeLimit.release();
  }
  interrupt.throwIfAborted();
}

/** The pictures to draw, if wanted: none in a pipe, other formats or with chosen fields. */
function graphicsFor({ context, globals }: App, { thumbnail, printing }: Wanted): Graphics | null {
  const { stdout, env } = context;
  if (!stdout.isTTY || globals.json || globals.quiet || !thumbnail || printing.select) return null;
  if ((printing.format ?? "table") !== "table" || env.CAT_THUMBNAILS === "off") return null;
  return detectGraphics(env);
}

/** How a terminal draws pictures: the escape sequences of iTerm2 or Kitty, or Sixel. */
export type Graphics = "iterm2" | "kitty" | "sixel";

/** The pictures that a terminal draws, by its variables (asking would read keys); null for none or tmux. */
export function detectGraphics(env: Env): Graphics | null {
  const { TERM = "", TERM_PROGRAM = "", LC_TERMINAL = "" } = env;
  if (env.TMUX !== undefined || env.STY !== undefined || /^(?:tmux|screen|dumb)/.test(TERM)) return null;
  if (env.KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM) || TERM_PROGRAM === "ghostty")
    return "kitty";
  if (/^(?:iTerm\.app|WezTerm|mintty|rio)$/.test(TERM_PROGRAM) || LC_TERMINAL === "iTerm2") return "iterm2";
  // Konsole 22.04 and later.
  if (Number(env.KONSOLE_VERSION) >= 220_400) return "iterm2";
  return /^(?:foot|mlterm|contour)|sixel/.test(TERM) ? "sixel" : null;
}

/** The size in pixels: about a sixth of a screen. */
const box = { width: 320, height: 240 } as const;
/** The longest text of one Kitty escape sequence. */
const kittyChunk = 4096;
const sixelColors = 128;

/** A small image as escape sequences, with a line end. Throws for bytes of no image. */
async function pictureText(graphics: Graphics, image: Uint8Array): Promise<string> {
  const { default: sharp } = await import("sharp");
  const { scaledTo } = await import("../../flows/generate/gallery/fetch-images.ts");
  return `${await drawn[graphics](scaledTo(box, sharp, image))}\n`;
}

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
