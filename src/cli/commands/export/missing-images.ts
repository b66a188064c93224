import { CatError } from "../../../errors.ts";
import { counted } from "../../../flows/words.ts";

/** The error of an export whose ZIP has fewer images than the service counted: exit 8. The file is kept. */
export const imagesMissing = (missing: number, hint = "Run the command again for a new export."): CatError =>
  new CatError(`${counted(missing, "image")} ${missing === 1 ? "is" : "are"} not in the export`, {
    type: "partial",
    code: "images_missing",
    hint: `Their products may have been deleted meanwhile. ${hint}`,
  });
