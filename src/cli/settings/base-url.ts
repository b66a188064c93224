import { parseBaseUrl } from "../../client/base-url.ts";
import { CatError } from "../../errors.ts";
import { UsageError } from "../context/errors.ts";

/** A setting and its source, as errors name it: `--base-url`, `CAT_BASE_URL`, `profile dev`. */
export interface Sourced {
  readonly value: string;
  readonly source: string;
}

/**
 * The base URL in the form that the client expects. Throws UsageError, with the source, for one that the
 * client rejects.
 */
export function checkedBaseUrl({ value, source }: Sourced): string {
  try {
    const { origin, prefix } = parseBaseUrl(value);
    return origin + prefix;
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
    throw new UsageError(`${error.message.replace(/\.$/, "")} (from ${source})`, {
      code: error.code,
      hint: error.hint,
      param: "base_url",
    });
  }
}
