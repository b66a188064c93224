import { ulidPattern } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { UsageError } from "../context/errors.ts";

/** The form of most IDs (Resources), upper or lower case: the service decides about the case. */
const idForm = new RegExp(ulidPattern, "i");

/**
 * The ID of a resource as typed, trimmed. A text that cannot be an ID is rejected without a request: exit 2
 * when empty, else exit 5. `noun` is the resource, e.g. `import`.
 */
export function resourceId(text: string, noun: string): string {
  const id = text.trim();
  const param = `${noun}_id`;
  if (id === "") throw new UsageError(`the ${noun} ID is empty`, { param, hint: "Use the complete ID." });
  if (idForm.test(id)) return id;
  const shown = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  throw new CatError(`no ${noun} has the ID ${JSON.stringify(shown)}`, {
    type: "not_found",
    code: `${noun}_not_found`,
    param,
    hint: "Check the ID: it has 26 capital letters and digits.",
  });
}
