/** Rows of a file by their index, from 0. */
export interface SomeRows {
  has(row: number): boolean;
}

/** A set of rows that takes one bit per row. */
export class RowSet implements SomeRows {
  #bits = new Uint8Array(1024);
  size = 0;

  add(row: number): void {
    if (this.has(row)) return;
    while (row >= this.#bits.length * 8) this.#grow();
    this.#bits[row >> 3]! |= 1 << (row & 7);
    this.size++;
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bits.length * 2);
    larger.set(this.#bits);
    this.#bits = larger;
  }
}

/** The rows of a file that the check rejected. */
export class RefusedRows extends RowSet {
  /** Those among them that repeat a key of another row. */
  readonly repeated = new RowSet();
}
