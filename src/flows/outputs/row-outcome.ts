/** Why a row failed, or a part of it. */
export interface RowFailure {
  code: string;
  message: string;
}

/** Why a row that the run did not reach is not done. */
export const notSent: RowFailure = {
  code: "not_sent",
  message: "not sent, because the run stopped before this row",
};

/** The result of one row of the file. `Result` is what the flow knows of it, in the form of its results file. */
export interface RowOutcome<Result> {
  /** The file's line of the row. */
  line: number;
  /** Absent where the row was not accepted. */
  result?: Result;
  failure?: RowFailure;
  /** Which parts of a row that failed are done all the same, by their place in the row. */
  done?: readonly number[];
}

/** Everything that is wrong with one row, of which there is something: the first code, and all sentences. */
export const joinedFailure = (problems: readonly RowFailure[]): RowFailure => ({
  code: problems[0]!.code,
  message: inOneLine(problems.map(({ message }) => message).join("; ")),
});

/** The service's words for a file that people open: without what a terminal would obey. */
export const inOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
