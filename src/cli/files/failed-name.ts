import { basename, extname } from "node:path";
import { formatOfName, type InputFormat } from "../../flows/rows/source.ts";

/** The longest file name on common file systems, in bytes. */
const longestName = 255;

/**
 * The default name of the failed file: `products.failed.csv` for `products.csv`. An extension that matches
 * the format is kept; other names get one. Importing a failed file gives the same name again, so that the
 * next one gets the next number.
 */
export function failedName(file: string, format: InputFormat): string {
  const name = basename(file);
  const extension = formatOfName(name) === format ? extname(name) : "";
  const stem = name.slice(0, name.length - extension.length);
  const ending = `.failed${extension || `.${format}`}`;
  const short = Array.from(extension === "" ? stem : stem.replace(/(?<=.)\.failed(?:-\d{1,5})?$/s, ""));
  // The number that `numbered` adds must fit as well.
  const longest = longestName - ending.length - "-99999".length;
  while (Buffer.byteLength(short.join("")) > longest) short.pop();
  return file.slice(0, file.length - name.length) + short.join("") + ending;
}
