import { runIdentity } from "../../runs/run-identity.ts";
import type { ImportInput } from "./import-input.ts";

/**
 * What makes an import the same as an earlier one: the bytes of the file and of the photos it names, and every option that
 * changes what is sent of it. Where they lie, and what is asked of the output, does not matter.
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
