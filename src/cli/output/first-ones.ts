/** The first rows of a list, up to a number of them; when they were read it is known whether there are more. */
export class FirstOnes<Row> implements AsyncIterable<Row> {
  readonly #rows: Iterable<Row> | AsyncIterable<Row>;
  readonly #wanted: number;
  /** Whether rows were left, once the others were read. */
  isMore = false;

  /** `wanted` null wants all. */
  constructor(rows: Iterable<Row> | AsyncIterable<Row>, wanted: number | null) {
    this.#rows = rows;
    this.#wanted = wanted ?? Number.POSITIVE_INFINITY;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    let count = 0;
    for await (const row of this.#rows) {
      if (count++ === this.#wanted) {
        this.isMore = true;
        return;
      }
      yield row;
    }
  }
}
