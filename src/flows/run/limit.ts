import { CatError } from "../../errors.ts";
import { counted, shownName } from "../words.ts";

/** The error for a limit that leaves out rows which the run has sent already. */
export const sentBeyond = (limit: number, file: string): CatError =>
  new CatError(
    `rows after the first ${limit === 1 ? "row" : counted(limit, "row")} of ${shownName(file)} were already sent`,
    {
      type: "usage",
      code: "sent_beyond_limit",
      hint: "Remove --limit, or use a higher one.",
    },
  );
