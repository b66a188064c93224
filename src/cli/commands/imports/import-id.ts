import { ulidPattern } from "../../../contract/ids.ts";
import { CatError } from "../../../errors.ts";
import { UsageError } from "../../errors.ts";

/** The form of an import's id (Resources); in either case, as the service is the one to judge it. */
const idForm = new RegExp(ulidPattern, "i");

/** The id as it was typed, without the space around it. What cannot be one is not asked for: exit 2 when empty, else 5. */
export function importId(text: string): string {
  const id = text.trim();
  if (id === "") throw new UsageError("the import's id is empty", { param: "import_id" });
  if (idForm.test(id)) return id;
  const shown = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  throw new CatError(
    `there is no import ${JSON.stringify(shown)}: an import's id has 26 capital letters and digits`,
    { type: "not_found", code: "import_not_found", param: "import_id" },
  );
}
