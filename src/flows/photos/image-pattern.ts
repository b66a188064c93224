// Patterns of photo names: `{reference}_{side}.jpg`.

import { orientations } from "../../contract/value-sets.ts";
import { foldedPath } from "../files/folded-path.ts";

/** The patterns of file names without `--images-pattern`. */
export const usualPatterns = ["{reference}_{side}", "{reference}-{n}", "{reference}"] as const;

/** The end of a photo's name. */
export const ofPhoto = /\.(?:jpe?g|png|webp|tiff?|avif|gif|bmp)$/i;
const sides = orientations.map((side) => side.replaceAll("-", "[-_ ]")).join("|");

/** The file names that a pattern describes, without extension and in the form of `foldedPath`. */
export function patternOf(pattern: string): RegExp {
  const parts: Readonly<Record<string, string>> = {
    "{reference}": "(?<reference>.+?)",
    "{side}": `(?<side>${sides})`,
    "{n}": "(?<n>\\d{1,4})",
    "*": ".*?",
  };
  const source = foldedPath(pattern)
    .split(/(\{reference\}|\{side\}|\{n\}|\*)/)
    .map((part) => parts[part] ?? part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${source.join("")}$`, "u");
}

/** Whether a pattern has its reference once, and a side or a number at most once. */
export const isPattern = (pattern: string): boolean =>
  pattern.split("{reference}").length === 2 &&
  ["{side}", "{n}"].every((part) => pattern.split(part).length <= 2) &&
  !/[{}]/.test(pattern.replace(/\{(?:reference|side|n)\}/g, ""));
