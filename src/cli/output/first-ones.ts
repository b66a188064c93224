/** The first rows of a list, up to a limit. Reading them also shows whether the list has more rows. */
export class FirstOnes<Row> implements AsyncIterable<Row> {
  readonly #rows: Iterable<Row> | AsyncIterable<Row>;
  readonly #limit: number;
  /** Whether the list has more rows; known once the first ones were read. */
  isMore = false;

  /** A `limit` of null reads all rows. */
  constructor(rows: Iterable<Row> | AsyncIterable<Row>, limit: number | null) {
    this.#rows = rows;
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    let count = 0;
    for await (const row of this.#rows) {
      if (count++ === this.#limit) {
        this.isMore = true;
        return;
      }
      yield row;
    }
  }
}
