import { CatError } from "../errors.ts";
import { type Interceptor, withHeader } from "./send.ts";

/** An API key, or a function that returns it: called once, with the first request. */
export type ApiKey = string | (() => string | Promise<string>);

/** Sends the key as a bearer token (Authentication 1) to `origin` only. */
export function auth(origin: string, apiKey: ApiKey): Interceptor {
  const getKey = async () => checkedKey(typeof apiKey === "string" ? apiKey : await apiKey());
  // Concurrent requests share one lookup; a failure is not remembered.
  let found: Promise<string> | null = null;
  return (next) => async (request) => {
    if (request.origin !== origin) return next(request);
    found ??= getKey().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return next(withHeader(request, "authorization", `Bearer ${await found}`));
  };
}

/**
 * The key without surrounding space, checked for use in a header. For a key with a line break or a non-ASCII
 * character, the HTTP library would show the entire key in its error; this error never does.
 */
export function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === "") {
    throw new CatError("no API key", { type: "unauthorized", code: "missing_api_key" });
  }
  const fault = /[\u0000-\u001f\u007f-\u009f]/.test(trimmed)
    ? "a line break or another control character"
    : /[^\u0020-\u007e]/.test(trimmed)
      ? "a character outside ASCII"
      : trimmed.includes(" ")
        ? "a space"
        : null;
  if (fault === null) return trimmed;
  throw new CatError(`the API key contains ${fault}`, {
    type: "unauthorized",
    code: "invalid_api_key",
    hint: "Copy the key from the dashboard again, as a single line.",
  });
}
