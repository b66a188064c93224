// Writing: the page, with its images in blocks, so that memory holds two blocks at most.

import { dirname } from "node:path";
import pLimit from "p-limit";
import { OutputFile } from "../../files/output-file.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { Service } from "../../service.ts";
import { describeRun, type Fetch, type GalleryInput } from "./describe-run.ts";
import { imageBlock, pageAround } from "./page-text.ts";
import { openThumbnailer, type Thumbnailer } from "./thumbnail.ts";

/** How many images are fetched and scaled at once: signed URLs have no rate limit. */
const imagesAtOnce = 8;

/** Writes the page of a run; it appears when it is complete. Gives how many images are missing. Throws OutputError. */
export async function writeGallery(
  { path, replaces }: { readonly path: string; readonly replaces: boolean },
  input: Omit<GalleryInput, "pageIn">,
  service: Pick<Service, "client" | "clock" | "signal" | "concurrency">,
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
  { thumbnailer, onImage }: { thumbnailer: Thumbnailer; onImage: () => void },
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
    // What stops a block is seen when its turn comes.
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
