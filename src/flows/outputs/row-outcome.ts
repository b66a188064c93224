/** The reason a row, or a part of it, failed. */
export interface RowFailure {
  code: string;
  message: string;
}

/** The failure of a row that the run did not reach. */
export const notSent: RowFailure = {
  code: "not_sent",
  message: "not sent, because the run stopped before this row",
};

/** The result of one row of the file. `Result` is the flow's data, in the form of its results file. */
export interface RowOutcome<Result> {
  /** The row's line in the file. */
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
