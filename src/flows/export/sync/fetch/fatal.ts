import { ApiError } from "../../../../client/api-error.ts";
import { CatError, fileProblem } from "../../../../errors.ts";
import { isOfCaller } from "../../../service-errors.ts";

/** Problems of one path; any other problem of a file is likely to affect all files. */
const ofOnePath = new Set(["ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP", "EINVAL", "EEXIST", "ENOTEMPTY"]);

/** Whether an error of one asset ends the run: of the disk, of the API key, or an internal error. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof CatError)) return true;
  if (error instanceof ApiError && isOfCaller(error)) return true;
  if (error.type !== "output" && error.type !== "file") return false;
  const { code = "" } = (error.cause ?? {}) as { code?: string };
  return !(ofOnePath.has(code) || (fileProblem({ code }) === null && error.type === "output"));
}
