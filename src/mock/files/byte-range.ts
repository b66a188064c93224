/** A part of a file: from `start` up to, but not with, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a `Range` header asks for (RFC 9110, 14.1.2 and 14.2): a part, nothing that is there, or null for the whole. A header
 * that is malformed, or of another unit, asks for the whole; so do several ranges, which nobody has to be given in parts.
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

/** `first-last`, `first-` or `-length`, cut to the file; null when it is none of them. */
function rangeOf(text: string, size: number): ByteRange | null {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (first === undefined || last === undefined || first + last === "") return null;
  if (first === "") return { start: Math.max(0, size - Number(last)), end: size };
  if (last !== "" && BigInt(last) < BigInt(first)) return null;
  return { start: Number(first), end: last === "" ? size : Math.min(size, Number(last) + 1) };
}
