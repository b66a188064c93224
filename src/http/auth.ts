import { CatError } from "../errors.ts";
import { type Interceptor, withHeader } from "./send.ts";

/** A machine key, or how to get one; it is asked for once, with the first request. */
export type ApiKey = string | (() => string | Promise<string>);

/** Sends the key as a bearer token (Authentication 1) to `origin`, and to no other. */
export function auth(origin: string, apiKey: ApiKey): Interceptor {
  const ask = async () => checkedKey(typeof apiKey === "string" ? apiKey : await apiKey());
  // One question, however many requests begin at once; a failure is not remembered.
  let asked: Promise<string> | null = null;
  return (next) => async (request) => {
    if (request.origin !== origin) return next(request);
    asked ??= ask().catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return next(withHeader(request, "authorization", `Bearer ${await asked}`));
  };
}

/**
 * The key without surrounding space, fit for a header. A key with a newline or a character from elsewhere would show
 * whole in the HTTP library's own error message; ours names the fault and never the key.
 */
export function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === "") {
    throw new CatError("There is no API key.", { type: "unauthorized", code: "missing_api_key" });
  }
  const fault = /[\u0000-\u001f\u007f-\u009f]/.test(trimmed)
    ? "a line break or another control character"
    : /[^\u0020-\u007e]/.test(trimmed)
      ? "a character outside ASCII"
      : trimmed.includes(" ")
        ? "a space"
        : null;
  if (fault === null) return trimmed;
  throw new CatError(`The API key contains ${fault}.`, {
    type: "unauthorized",
    code: "invalid_api_key",
    hint: "Copy it again from the dashboard, as one line.",
  });
}
