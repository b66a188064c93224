import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CatError, fileProblem } from "../../errors.ts";

/** Makes a folder that only this user can read. `act`: what it is for, such as `copy a.csv to`. Throws a CatError. */
export function temporaryFolder(act: string): string {
  try {
    return mkdtempSync(join(tmpdir(), "catalogue-"));
  } catch (cause) {
    throw temporaryProblem(act, cause);
  }
}

/** The error for a temporary folder that cannot be written. */
export function temporaryProblem(act: string, cause: unknown): CatError {
  const why = fileProblem(cause)?.why ?? (cause as Error).message;
  return new CatError(`cannot ${act} the temporary folder ${tmpdir()}: ${why}`, {
    type: "output",
    code: "no_temporary_folder",
    cause,
    hint: "Set TMPDIR to a folder with enough space, in which you may write.",
  });
}
