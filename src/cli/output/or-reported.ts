import type { InputProblem } from "../../flows/rows/problem.ts";
import { InputError } from "../../flows/rows/source.ts";
import { ExitCode, toExitCode } from "../context/errors.ts";
import type { Io } from "./io.ts";
import { namedProblem } from "./problem-list.ts";

/** The `--json` output of a rejected file: its name, and the command's other fields. */
export interface RejectedFile {
  readonly file: string;
}

/** Why a file was rejected, of which `orReported` prints the problems. */
export class FileRejection extends InputError {
  constructor(
    { message, code, hint }: { message: string; code: string; hint: string },
    readonly report: {
      file: string;
      problems: readonly InputProblem[];
      total: number;
      valid: number;
      invalid: number;
    },
  ) {
    super(message, code, hint);
  }
}

/** The app, as far as a report of a rejection needs it. */
interface ReportingApp {
  readonly io: Io;
}

/** With `--json` every rejection has one object on stdout, also of files in which no rows are found. */
export const orReported = <Found>(
  { io }: ReportingApp,
  nothing: RejectedFile,
  finding: Promise<Found>,
): Promise<Found> =>
  orPrinted({ io }, finding, (error) => {
    const { problems = [], ...counts } = error instanceof FileRejection ? error.report : {};
    const named = problems.map((problem) => namedProblem(io, problem));
    return { ...nothing, total: 0, valid: 0, invalid: 0, ...counts, problems: named };
  });

/** The same, where `toReport` makes the object. */
export async function orPrinted<Found>(
  { io }: ReportingApp,
  finding: Promise<Found>,
  toReport: (error: unknown) => object | Promise<object>,
): Promise<Found> {
  try {
    return await finding;
  } catch (error) {
    if (io.json && toExitCode(error) === ExitCode.rejected) await io.jsonData(await toReport(error));
    throw error;
  }
}
