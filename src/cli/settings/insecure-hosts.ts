import { isInsecure } from "../../client/base-url.ts";
import { exactHost } from "../../contract/url-policy.ts";
import { UsageError } from "../context/errors.ts";
import type { Env } from "./profile-names.ts";

/** The variable that names hosts whose base URL may be `http://`. */
const variable = "CAT_INSECURE_HTTP_HOSTS";

/** The hosts of CAT_INSECURE_HTTP_HOSTS. Throws UsageError for an entry that is not an exact host name. */
export function insecureHosts(env: Env): ReadonlySet<string> {
  const entries = (env[variable] ?? "").split(",").map((entry) => entry.trim());
  return new Set(
    entries
      .filter((entry) => entry !== "")
      .map((entry) => {
        const host = exactHost(entry);
        if (host !== null) return host;
        throw new UsageError(`invalid ${variable}: ${JSON.stringify(entry)} is not an exact host name`, {
          code: "invalid_insecure_host",
          param: variable,
          hint: "List host names without http://, ports and wildcards, separated by commas: mock,10.0.0.7",
        });
      }),
  );
}

/** A sentence about a base URL to which the API key is sent unencrypted; null for any other. */
export function insecureNote(baseUrl: string, env: Env): string | null {
  const url = new URL(baseUrl);
  if (!isInsecure(url, insecureHosts(env))) return null;
  return `The API key is sent unencrypted to ${url.origin}, because ${variable} names this host.`;
}
