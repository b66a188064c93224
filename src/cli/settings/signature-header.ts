import { signatureHeader } from "../../contract/signature.ts";
import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { readProfiles } from "./profiles.ts";
import { profileName } from "./settings.ts";

/**
 * The name of the header with the signature of a delivery: `signatureHeader` of the profile, else
 * `Service-Signature`. Throws UsageError for one that is not a header name.
 */
export async function signatureHeaderInUse(
  globals: GlobalOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const profiles = await readProfiles(env);
  const { name } = profileName(globals, env, profiles);
  const header: unknown = profiles.find(name)?.signatureHeader ?? signatureHeader;
  return checkedSignatureHeader(header, `profile ${name} of ${profiles.path}`);
}

/** The name of a header. Throws UsageError, with the source, for anything else. */
export function checkedSignatureHeader(header: unknown, source: string): string {
  // The characters of a token (RFC 9110, 5.6.2).
  if (typeof header === "string" && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(header)) return header;
  throw new UsageError(`invalid signatureHeader in ${source}: not a header name`, {
    code: "invalid_config",
    param: "signatureHeader",
    hint: `Use a name such as ${signatureHeader}.`,
  });
}
