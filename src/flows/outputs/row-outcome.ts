/** The reason a row, or a part of it, failed. */
export interface RowFailure {
  code: string;
  message: string;
}

export const notSent: RowFailure = {
  code: "not_sent",
  message: "not sent, because the run stopped before this row",
};

/** The result of one row of the file. `Result` is the flow's data, in the form of its results file. */
export interface RowOutcome<Result> {
  line: number;
  /** Absent if the row was not accepted. */
  result?: Result;
  failure?: RowFailure;
  /** The parts of a failed row (by index) that are done anyway. */
  done?: readonly number[];
}

/** Joins all problems of a row (at least one): the first code, and all messages. */
export const joinedFailure = (problems: readonly RowFailure[]): RowFailure => ({
  code: problems[0]!.code,
  message: inOneLine(problems.map(({ message }) => message).join("; ")),
});

/** Text from the service without line breaks and control characters, for files that users open. */
export const inOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
/** Rows in file order, with their first line. */
export interface RowRange<Row extends { line: number }> {
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
  stretches: readonly RowRange<Row>[],
): AsyncGenerator<Row> {
  const waiting = [...stretches].sort((a, b) => b.first - a.first);
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
