/** A part of a file, from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header (RFC 9110, 14.1.2 and 14.2): a part of the file, "unsatisfiable", or null for the
 * complete file. A malformed header, another unit or several ranges also mean the complete file; a server
 * need not support several ranges.
 */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const set = /^bytes=(.*)$/i.exec(header ?? "")?.[1];
  if (set === undefined) return null;
  const ranges: ByteRange[] = [];
  let isThere = false;
  for (const part of set.split(",")) {
    const text = part.replace(/^[ \t]+|[ \t]+$/g, "");
    // A list may have empty elements (RFC 9110, 5.6.1.2).
    if (text === "") continue;
    const range = rangeOf(text, size);
    if (range === null) return null;
    ranges.push(range);
    if (range.start < range.end) isThere = true;
  }
  if (ranges.length === 0) return null;
  if (!isThere) return "unsatisfiable";
  return ranges.length === 1 ? ranges[0]! : null;
}

/** Parses `first-last`, `first-` or `-length`, limited to the file; null for any other text. */
function rangeOf(text: string, size: number): ByteRange | null {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (first === undefined || last === undefined || first + last === "") return null;
  if (first === "") return { start: Math.max(0, size - Number(last)), end: size };
  if (last !== "" && BigInt(last) < BigInt(first)) return null;
  return { start: Number(first), end: last === "" ? size : Math.min(size, Number(last) + 1) };
}
