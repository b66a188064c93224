// Writing: the page, with its images in blocks, so that memory holds two blocks at most.

import { createHash } from "node:crypto";
import { dirname } from "node:path";
import pLimit from "p-limit";
import { OutputFile } from "../../files/output-file.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { WaitingReader } from "../../service.ts";
import { describeRun, type Fetch, type GalleryData, type GalleryInput } from "./describe-run.ts";
import { openThumbnailer, type ThumbnailMaker } from "./fetch-images.ts";
import { pageFiles } from "./page-files.ts";

/** How many images are fetched and scaled at once: signed URLs have no rate limit. */
const imagesAtOnce = 8;

/** Writes a run's page, which appears complete; returns how many images are missing. Throws OutputError. */
export async function writeGallery(
  { path, replaces }: { readonly path: string; readonly replaces: boolean },
  input: Omit<GalleryInput, "pageIn">,
  service: WaitingReader,
  onProgress: (event: ProgressEvent) => void,
): Promise<{ missing: number }> {
  const thumbnailer = await openThumbnailer();
  const { data, images } = await describeRun({ ...input, pageIn: dirname(path) }, service);
  const { before, after } = pageAround(data);
  const file = await OutputFile.begin(path, replaces || "never", `${input.run}.gallery`);
  let done = 0;
  let missing = 0;
  try {
    await file.write(before);
    const blocks = scaledBlocks(images, data.imagesPerBlock, {
      thumbnailer,
      onImage: () => onProgress({ step: "writing the gallery", done: ++done, total: images.length }),
    });
    let number = 0;
    for await (const block of blocks) {
      missing += block.filter((image) => image === null).length;
      await file.write(imageBlock(number++, block));
    }
    await file.write(after);
    await file.commit();
    return { missing };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Fetches and scales images, in blocks; the next block is begun before one is given. */
async function* scaledBlocks(
  images: readonly Fetch[],
  size: number,
  { thumbnailer, onImage }: { thumbnailer: ThumbnailMaker; onImage: () => void },
): AsyncGenerator<(string | null)[]> {
  const limit = pLimit(imagesAtOnce);
  const begin = (start: number): Promise<(string | null)[]> => {
    const block = Promise.all(
      images.slice(start, start + size).map((fetch) =>
        limit(async () => {
          const bytes = await fetch();
          const image = bytes === null ? null : await thumbnailer(bytes);
          onImage();
          return image;
        }),
      ),
    );
    // An error of a block is seen when its turn comes.
    block.catch(() => {});
    return block;
  };
  try {
    let next = begin(0);
    for (let start = 0; start < images.length; start += size) {
      const block = next;
      next = begin(start + size);
      yield await block;
    }
  } finally {
    limit.clearQueue();
  }
}

export function pageAround(data: GalleryData): { before: string; after: string } {
  const style = pageTexts(".css").join("\n");
  const script = `"use strict";\n(() => {\n${pageTexts(".js").map(withoutModules).join("\n")}\n})();`;
  const policy = [
    "default-src 'none'",
    // A page on a disk may show the saved images next to it.
    "img-src data: file:",
    `style-src '${toHash(style)}'`,
    `script-src '${toHash(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts: Readonly<Record<string, string>> = {
    policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    style: `<style>${style}</style>`,
    data: `<script type="application/json" id="data">${jsonInHtml(data)}</script>`,
    script: `<script>${script}</script>`,
  };
  const [before, after] = pageFiles["page.html"]!.split("<!-- images -->") as [string, string];
  return { before: before.replace(/<!-- (\w+) -->/g, (_, name: string) => parts[name]!), after };
}

/** Images by their index, as WebP in base64; null where one is missing. */
export const imageBlock = (number: number, images: readonly (string | null)[]): string =>
  `<script type="application/json" id="images-${number}">${JSON.stringify(images)}</script>\n`;

/** JSON that no HTML parser takes for its end, and no older script for two lines. */
export const jsonInHtml = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const pageTexts = (extension: string): string[] =>
  Object.entries(pageFiles).flatMap(([name, text]) => (name.endsWith(extension) ? text : []));

/** The scripts of the page become one: a page on a disk cannot import others. */
const withoutModules = (text: string): string =>
  text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");

const toHash = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
