import { UsageError } from "../context/errors.ts";
import { visible } from "../output/visible.ts";

/** A name for a profile that is created. Throws UsageError for one that could not be shown or typed. */
export function checkedProfileName(name: string, source: string): string {
  const isUsable = name.trim() === name && name !== "" && name.length <= 100 && visible(name) === name;
  if (isUsable && name !== "__proto__") return name;
  throw new UsageError(`invalid profile name ${JSON.stringify(name)} (from ${source})`, {
    code: "invalid_profile_name",
    param: "profile",
    hint: "Use up to 100 letters and digits, for example staging.",
  });
}
