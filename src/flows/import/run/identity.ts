import { runIdentity } from "../../run/run.ts";
import type { ImportInput } from "./import-input.ts";

/**
 * Identifies an import across restarts: the bytes of the file and its photos, and every option that changes
 * what is sent. Paths and output options do not count.
 */
export function identityOf(input: ImportInput, digests: { file: string; photos: string }): string {
  const { mode, onImageError, photos, skipInvalid } = input;
  const { read, source } = input.file;
  const map = [...input.map].sort(([one], [other]) => (one < other ? -1 : 1));
  const { delimiter = null, encoding = null } = read;
  return runIdentity([
    digests.file,
    digests.photos,
    mode,
    onImageError,
    photos,
    skipInvalid,
    source.format,
    delimiter,
    encoding,
    map,
  ]);
}
