import { ulidPattern } from "../../contract/ids.ts";
import { CatError } from "../../errors.ts";
import { UsageError } from "../context/errors.ts";

/** The form of most IDs (Resources); in either case, because the service is the one to judge it. */
const idForm = new RegExp(ulidPattern, "i");

/**
 * The ID of a resource as it was typed, without the space around it. What cannot be one is not asked for: exit 2 when
 * empty, else 5. `noun` is the resource, e.g. `import`.
 */
export function resourceId(text: string, noun: string): string {
  const id = text.trim();
  const param = `${noun}_id`;
  if (id === "") throw new UsageError(`the ${noun}'s id is empty`, { param });
  if (idForm.test(id)) return id;
  const shown = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  const whose = `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}'s`;
  throw new CatError(
    `there is no ${noun} ${JSON.stringify(shown)}: ${whose} id has 26 capital letters and digits`,
    { type: "not_found", code: `${noun}_not_found`, param },
  );
}
