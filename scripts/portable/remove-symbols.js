// @ts-check
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

/** Places in a file of the format ELF for 64 bits, in little-endian. */
const at = {
  segments: 32,
  sections: 40,
  segmentSize: 54,
  segmentCount: 56,
  sectionCount: 60,
  sectionNames: 62,
};

/**
 * Cuts a program for Linux behind its last segment. What follows are the names of functions, a tenth of Node, which debuggers
 * read alone. Tools such as strip do the same, each for its own processors.
 * @param {string} path
 */
export function removeSymbols(path) {
  const file = openSync(path, "r+");
  try {
    const head = Buffer.alloc(64);
    readSync(file, head, 0, head.length, 0);
    // ELF, 64 bits, little-endian.
    if (head.readUInt32BE(0) !== 0x7f454c46 || head.readUInt16BE(4) !== 0x0201)
      throw new Error(`${path} is not a program for Linux`);
    const size = head.readUInt16LE(at.segmentSize);
    const segments = Buffer.alloc(size * head.readUInt16LE(at.segmentCount));
    readSync(file, segments, 0, segments.length, Number(head.readBigUInt64LE(at.segments)));
    let end = 0;
    for (let start = 0; start < segments.length; start += size) {
      const [from, length] = [segments.readBigUInt64LE(start + 8), segments.readBigUInt64LE(start + 32)];
      end = Math.max(end, Number(from + length));
    }
    if (end <= segments.length || end > fstatSync(file).size) throw new Error(`${path} is cut`);
    // There are no sections any more.
    head.writeBigUInt64LE(0n, at.sections);
    head.writeUInt16LE(0, at.sectionCount);
    head.writeUInt16LE(0, at.sectionNames);
    writeSync(file, head, 0, head.length, 0);
    ftruncateSync(file, end);
  } finally {
    closeSync(file);
  }
}
