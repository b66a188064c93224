import { lstat, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { InputError } from "../rows/source.ts";
import { LocalPhotos } from "./local-photos.ts";

/** What the user says of where photos on this machine are. */
export interface PhotoFlags {
  imagesRoot?: string | undefined;
  imagesOutside?: boolean | undefined;
}

/**
 * The photos of an import: relative to `imagesRoot` (`--images-root`), else to the folder of the file, else, where the rows
 * come through standard input or a pipe (`sourcePath` is null), to the current folder `cwd`. They lie in that folder unless
 * `imagesOutside` (`--images-outside`). Throws InputError when `imagesRoot` is no folder.
 */
export async function openLocalPhotos(
  { imagesRoot, imagesOutside: mayLeave = false }: PhotoFlags,
  { cwd, sourcePath }: { cwd: string; sourcePath: string | null },
): Promise<LocalPhotos> {
  if (imagesRoot === undefined) {
    return sourcePath === null
      ? new LocalPhotos({ root: cwd, called: "the current folder", mayLeave })
      : new LocalPhotos({ root: dirname(sourcePath), mayLeave });
  }
  const root = resolve(cwd, imagesRoot);
  const fault = await realpath(root)
    .then(lstat)
    .then(
      (found) => (found.isDirectory() ? null : "is not a folder"),
      ({ code }: NodeJS.ErrnoException) =>
        code === "ENOENT" ? "does not exist" : `cannot be opened (${code})`,
    );
  if (fault === null) return new LocalPhotos({ root, called: "--images-root", mayLeave });
  throw new InputError(
    `--images-root ${imagesRoot} ${fault}`,
    "images_root_not_found",
    "Name the folder that the paths of the photos are relative to.",
  );
}
