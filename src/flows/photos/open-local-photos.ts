import { lstat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { realPath } from "../files/file-names.ts";
import { InputError } from "../rows/source.ts";
import { LocalPhotos, type PhotosPlace } from "./local-photos.ts";

export interface PhotoFlags {
  conversion?: PhotosPlace["conversion"];
  imagesRoot?: string | undefined;
  imagesOutside?: boolean | undefined;
  alsoIn?: string | undefined;
  digests?: PhotosPlace["digests"];
  namesAreRead?: boolean;
}

/**
 * The local photos of an import, relative to `imagesRoot` (`--images-root`), otherwise to the folder of the
 * file, or to `cwd` if the rows come from standard input or a pipe (`sourcePath` is null). They must be
 * inside that folder unless `imagesOutside` (`--images-outside`). Throws InputError if `imagesRoot` is not a
 * folder.
 */
export async function openLocalPhotos(
  { imagesRoot, imagesOutside: mayLeave = false, alsoIn, conversion, digests, namesAreRead }: PhotoFlags,
  { cwd, sourcePath }: { cwd: string; sourcePath: string | null },
): Promise<LocalPhotos> {
  const place = { mayLeave, alsoIn, conversion, digests, namesAreRead };
  if (imagesRoot === undefined)
    return sourcePath === null
      ? new LocalPhotos({ ...place, root: cwd, called: "the current folder" })
      : new LocalPhotos({ ...place, root: dirname(sourcePath) });
  const root = resolve(cwd, imagesRoot);
  const fault = await realPath(root)
    .then(lstat)
    .then(
      (stats) => (stats.isDirectory() ? null : "is not a folder"),
      ({ code }: NodeJS.ErrnoException) =>
        code === "ENOENT" ? "does not exist" : `cannot be opened (${code})`,
    );
  if (fault === null) return new LocalPhotos({ ...place, root, called: "--images-root" });
  throw new InputError(
    `--images-root ${imagesRoot} ${fault}`,
    "images_root_not_found",
    "Use the base folder of the photo paths.",
  );
}
