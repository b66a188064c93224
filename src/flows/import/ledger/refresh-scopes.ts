import type { ApiError } from "../../../client/api-error.ts";
import { CatError } from "../../../errors.ts";
import { mayNotRead } from "../../service-errors.ts";

/**
 * Returns the result of a refresh. Throws a CatError of type forbidden that names the scopes if the key
 * lacks one of them.
 */
export async function withScopes<T>(
  look: Promise<T>,
  scopes: readonly string[] = ["products:read", "exports:read"],
): Promise<T> {
  try {
    return await look;
  } catch (error) {
    throw mayNotRead(error) ? scopesMissing(error as ApiError, scopes) : error;
  }
}

const scopesMissing = ({ status, requestId, cause }: ApiError, scopes: readonly string[]): CatError =>
  new CatError(
    `cannot compare the rows with ${scopes.length === 1 ? "their products" : "earlier imports"}: --photos new needs a key with the ${scopes.length === 1 ? "scope" : "scopes"} ${scopes.join(" and ")}`,
    {
      type: "forbidden",
      code: "insufficient_scope",
      status,
      requestId,
      cause,
      hint: `Use a key with ${scopes.length === 1 ? "it" : "both scopes"}, or add --photos all to send all photos, including those already attached.`,
    },
  );
