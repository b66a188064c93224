import type { Problem } from "../../flows/rows/problem.ts";
import { InputError } from "../../flows/rows/source.ts";
import { ExitCode, toExitCode } from "../context/errors.ts";
import type { Io } from "./io.ts";
import { namedProblem } from "./problem-list.ts";

/** What `--json` prints of a file that is rejected: its name, and the other fields of the command's output. */
export interface RejectedFile {
  readonly file: string;
}

/** Why a file was rejected, of which `orReported` prints the problems. */
export class FileRejection extends InputError {
  constructor(
    { message, code, hint }: { message: string; code: string; hint: string },
    readonly report: {
      file: string;
      problems: readonly Problem[];
      total: number;
      valid: number;
      invalid: number;
    },
  ) {
    super(message, code, hint);
  }
}

/** With `--json` every rejection has one object on stdout, also of files in which no rows are found. */
export async function orReported<Found>(
  { io }: { readonly io: Pick<Io, "json" | "jsonData" | "asCalled"> },
  nothing: RejectedFile,
  finding: Promise<Found>,
): Promise<Found> {
  try {
    return await finding;
  } catch (error) {
    if (!io.json || toExitCode(error) !== ExitCode.refused) throw error;
    const { problems = [], ...counts } = error instanceof FileRejection ? error.report : {};
    const named = problems.map((problem) => namedProblem(io, problem));
    await io.jsonData({ ...nothing, total: 0, valid: 0, invalid: 0, ...counts, problems: named });
    throw error;
  }
}
