import type { ExportJob } from "../../../contract/resources/export.ts";
import { CatError } from "../../../errors.ts";
import { inOneLine } from "../../outputs/row-outcome.ts";

/** Whether an export job has reached a terminal state (States and transitions, Export job). */
export const isJobEnded = ({ status }: Pick<ExportJob, "status">): boolean => status !== "processing";

/** The error of an export job that failed at the service: exit 7. The hint says how to get a new one. */
export function failedJob(
  { id, error }: Pick<ExportJob, "id" | "error">,
  hint = "Run the command again for a new export.",
): CatError {
  const why = error === null ? "" : `: ${inOneLine(error.message)} (${error.code})`;
  return new CatError(`export ${id} failed at the service${why}`, {
    type: "internal",
    code: error?.code ?? "export_failed",
    hint,
  });
}

/** The next step for a failed export that is only watched or downloaded, which creates none. */
export const exportAgain = (format: ExportJob["format"]): string =>
  `Start a new export, for example: cat export --${format}`;
