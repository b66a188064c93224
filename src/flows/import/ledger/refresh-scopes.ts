import type { ApiError } from "../../../client/api-error.ts";
import { CatError } from "../../../errors.ts";
import { mayNotRead } from "../../service-errors.ts";

/**
 * Returns the result of a refresh. Throws a CatError of type forbidden that names both scopes if the key
 * lacks one of them.
 */
export async function withScopes<T>(look: Promise<T>): Promise<T> {
  try {
    return await look;
  } catch (error) {
    throw mayNotRead(error) ? scopesMissing(error as ApiError) : error;
  }
}

const scopesMissing = ({ status, requestId, cause }: ApiError): CatError =>
  new CatError(
    "cannot compare the rows with earlier imports: --photos new needs a key with the scopes products:read and exports:read",
    {
      type: "forbidden",
      code: "insufficient_scope",
      status,
      requestId,
      cause,
      hint: "Use a key with both scopes, or add --photos all to send all photos, including those already attached.",
    },
  );
