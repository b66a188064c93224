import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import { tinyPng } from "../../mock/world.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A photo that the service accepts, one per text. */
export const photo = (text: string): Buffer => Buffer.concat([tinyPng, Buffer.from(text)]);

/** A file with the first bytes of a photo and its end, but no size: the service rejects it. */
export const oddPhoto: Buffer = Buffer.concat([tinyPng.subarray(0, 8), tinyPng.subarray(-12)]);

/** A folder with files of that content; a text becomes a different photo each. */
export function photoFolder(files: Record<string, string | Uint8Array> = {}) {
  const folder = temporaryFolder();
  const at = (path: string) => join(folder, path);
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), typeof content === "string" ? photo(content) : content);
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  return {
    folder,
    at,
    write,
    photosIn: (root = ".", called?: string) => new LocalPhotos({ root: at(root), called }),
  };
}

/** The problems of photos, as `CODE MESSAGE`, with the folder written as `~`. */
export async function faultsOf(photos: LocalPhotos, folder: string, ...paths: string[]): Promise<string[]> {
  const faults = await photos.problems(paths.map((path, index) => ({ path, index })));
  return faults.map(({ code, message }) => `${code} ${message.replaceAll(folder, "~")}`);
}
