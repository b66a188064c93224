import { patienceOf } from "../../flows/run/stage.ts";
import type { App } from "../app/app.ts";
import type { Printing } from "../output/printing.ts";
import type { Graphics } from "./terminal-graphics.ts";

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

/** Whether the flags want pictures. */
interface Wanted {
  /** False with `--no-thumbnail`. */
  readonly thumbnail: boolean;
  readonly printing: Pick<Printing<never>, "format" | "select">;
}

/**
 * Draws small pictures below a resource on a terminal that can. Prints nothing for programs, and nothing for a picture
 * that cannot be had within 5 seconds: a picture never fails a command. Throws only the reason of an interrupt.
 */
export async function showThumbnails(
  app: App,
  pictures: readonly Thumbnail[],
  wanted: Wanted,
): Promise<void> {
  const graphics = await graphicsFor(app, wanted);
  if (graphics === null || pictures.length === 0) return;
  const { clock, interrupt } = app.context;
  const patience = patienceOf("picture", longestMs, { clock, signal: interrupt });
  try {
    const { ImageFetcher } = await import("../../flows/generate/gallery/fetch-images.ts");
    const { pictureText } = await import("./picture-text.ts");
    const client = await app.client();
    const fetcher = new ImageFetcher({ client, clock, signal: patience.signal });
    for (const { caption, fetch } of pictures.slice(0, mostPictures)) {
      const text = await drawnWithin(patience.signal, async () => {
        const image = await fetch(fetcher);
        return image === null ? null : pictureText(graphics, image);
      });
      if (text !== null) await app.io.data(caption === null ? text : `${app.io.visible(caption)}\n${text}`);
    }
  } finally {
    patience.release();
  }
  interrupt.throwIfAborted();
}

/** The text of a picture; null if it fails, or once the signal is aborted. */
async function drawnWithin(signal: AbortSignal, draw: () => Promise<string | null>): Promise<string | null> {
  if (signal.aborted) return null;
  let stop = () => {};
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([draw(), stopped]);
  } catch {
    return null;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What the terminal can draw, if pictures are wanted: nothing in a pipe, in other formats or with chosen fields. */
async function graphicsFor(
  { context, globals }: App,
  { thumbnail, printing }: Wanted,
): Promise<Graphics | null> {
  const { stdout, env } = context;
  if (!stdout.isTTY || globals.json || globals.quiet || !thumbnail || printing.select) return null;
  if ((printing.format ?? "table") !== "table" || env.CAT_THUMBNAILS === "off") return null;
  return (await import("./terminal-graphics.ts")).graphicsOf(env);
}
