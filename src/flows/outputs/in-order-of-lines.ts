/** Rows in file order, with their first line. */
export interface Stretch<Row extends { line: number }> {
  /** The line of the first row, or any line before it. */
  first: number;
  rows: () => AsyncGenerator<Row>;
}

/**
 * Merges several stretches into one, in file order. A stretch is opened when its first line is reached:
 * consecutive batches are read one after another, and only batches that a later run cut in between are read
 * in parallel.
 */
export async function* inOrderOfLines<Row extends { line: number }>(
  stretches: readonly Stretch<Row>[],
): AsyncGenerator<Row> {
  const waiting = [...stretches].sort((one, other) => other.first - one.first);
  const open: { row: Row; rows: AsyncGenerator<Row> }[] = [];
  try {
    for (;;) {
      const lowest = open.reduce((least, { row }) => Math.min(least, row.line), Number.POSITIVE_INFINITY);
      if (waiting.length > 0 && waiting.at(-1)!.first <= lowest) {
        const rows = waiting.pop()!.rows();
        const next = await rows.next();
        if (!next.done) open.push({ row: next.value, rows });
        continue;
      }
      const at = open.findIndex(({ row }) => row.line === lowest);
      if (at === -1) return;
      const from = open[at]!;
      yield from.row;
      const next = await from.rows.next();
      if (next.done) open.splice(at, 1);
      else from.row = next.value;
    }
  } finally {
    for (const { rows } of open) await rows.return(undefined);
  }
}
