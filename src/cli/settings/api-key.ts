import { KeyError } from "../context/errors.ts";

/** A key longer than this is another file by mistake. */
const longest = 1_000;

/** Whether a text can be sent as an API key: printable ASCII without spaces. */
export const isApiKey = (text: string): boolean => text.length <= longest && /^[\x21-\x7e]+$/.test(text);

/**
 * The API key in a text, without the spaces around it. Throws a KeyError, which never shows the text: the error of an
 * HTTP library would show the complete key.
 */
export function checkedApiKey(text: string, { source, hint }: { source: string; hint: string }): string {
  const key = text.trim();
  if (isApiKey(key)) return key;
  const why =
    key.length > longest ? "it is too long" : "it contains spaces, line breaks or special characters";
  throw new KeyError(`invalid API key ${source}: ${key === "" ? "it is empty" : why}`, {
    code: "invalid_api_key",
    hint,
  });
}
