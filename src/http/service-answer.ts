import type { Answer } from "./send.ts";

/**
 * Whether a response came from the service itself: an error with its envelope, JSON, or nothing at all (204). Any other
 * one is of a gateway or proxy, which may have passed the request on before.
 */
export const isOfService = ({ status, body, json }: Answer): boolean =>
  status >= 400 ? isEnvelope(json, status) : json !== undefined || (status === 204 && body.length === 0);

/**
 * Whether JSON is an error of the service (Errors): `error` with a type, or for a 400 the list of problems by line or
 * input. Gateways have errors in JSON as well, but without these fields.
 */
export function isEnvelope(json: unknown, status: number): boolean {
  const { error, errors } = (json ?? {}) as { error?: unknown; errors?: unknown };
  if (typeof error === "object" && error !== null) {
    const { type } = error as { type?: unknown };
    return typeof type === "string" && type !== "";
  }
  return status === 400 && Array.isArray(errors) && errors.some(isProblem);
}

const isProblem = (entry: unknown): boolean =>
  typeof entry === "object" && entry !== null && ("line" in entry || "input_index" in entry);
