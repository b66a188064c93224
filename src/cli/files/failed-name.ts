import { basename, extname } from "node:path";
import { formatOfName, type InputFormat } from "../../flows/rows/source.ts";

/** The longest name that a file has on the usual file systems, in bytes. */
const longestName = 255;

/**
 * The default failed file: `products.failed.csv` for `products.csv`. The extension stays where it tells the format that was
 * read; any other name gets one. A failed file that is imported keeps its name, so the next one gets the next number.
 */
export function failedName(file: string, format: InputFormat): string {
  const name = basename(file);
  const extension = formatOfName(name) === format ? extname(name) : "";
  const stem = name.slice(0, name.length - extension.length);
  const ending = `.failed${extension || `.${format}`}`;
  const short = Array.from(extension === "" ? stem : stem.replace(/(?<=.)\.failed(?:-\d{1,5})?$/s, ""));
  // The number (`numbered`) must fit as well.
  const room = longestName - ending.length - "-99999".length;
  while (Buffer.byteLength(short.join("")) > room) short.pop();
  return file.slice(0, file.length - name.length) + short.join("") + ending;
}
