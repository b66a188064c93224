import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Lines of several products: the same bytes with each call. */
export type Piece = () => Buffer;

/** Pieces that are kept uncompressed: runs read products in order, and lists shift a little. */
const mostRecent = 4;

/**
 * Packs lines that a run has changed, until the index is written: a tenth of their size, because the fields of an index
 * have the same names in every line.
 */
export class PackedLines {
  readonly #recent = new Map<Piece, Buffer>();

  pack(lines: Uint8Array): Piece {
    const deflated = deflateRawSync(lines, { level: 1 });
    const piece = () => {
      const bytes = this.#recent.get(piece) ?? inflateRawSync(deflated);
      // The last ones of a map are those that were used last.
      this.#recent.delete(piece);
      this.#recent.set(piece, bytes);
      if (this.#recent.size > mostRecent) this.#recent.delete(this.#recent.keys().next().value!);
      return bytes;
    };
    return piece;
  }
}
