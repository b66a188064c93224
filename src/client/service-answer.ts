import { errorTypes } from "../contract/error-codes.ts";
import type { Answer } from "../http/send.ts";

/**
 * Whether a response came from the service itself: an error with its envelope, JSON, or nothing at all (204). Any other
 * one is of a gateway or proxy, which may have passed the request on before.
 */
export const isOfService = ({ status, body, json }: Answer): boolean =>
  status >= 400 ? isEnvelope(json, status) : json !== undefined || (status === 204 && body.length === 0);

/**
 * Whether JSON is an error of the service (Errors): `error` with a type of its own, a code and a message, or for a 400 the
 * list of problems by line or input. Gateways have errors in JSON as well, but without these fields.
 */
export function isEnvelope(json: unknown, status: number): boolean {
  const { error, errors } = (json ?? {}) as { error?: unknown; errors?: unknown };
  if (typeof error === "object" && error !== null) {
    const { type, code, message } = error as { type?: unknown; code?: unknown; message?: unknown };
    return isErrorType(type) && typeof code === "string" && code !== "" && typeof message === "string";
  }
  return status === 400 && Array.isArray(errors) && errors.some(isProblem);
}

const isProblem = (entry: unknown): boolean =>
  typeof entry === "object" && entry !== null && ("line" in entry || "input_index" in entry);

const isErrorType = (type: unknown): boolean => (errorTypes as readonly unknown[]).includes(type);
