import { anySignedUrl, anyText, Id } from "./model.ts";

/** The mock and the model disagree. */
export class Disagreement extends Error {}

/**
 * The path of the first difference from the expected response, or null. New IDs are accepted as they are.
 */
export function difference(
  expected: unknown,
  actual: unknown,
  known: Set<string>,
  at = "body",
): string | null {
  if (expected instanceof Id) {
    if (expected.value === actual) return null;
    if (expected.value !== null) return `${at}: ${actual} instead of ${expected.value}`;
    if (typeof actual !== "string" || !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(actual))
      return `${at}: ${actual} is no id`;
    if (known.has(actual)) return `${at}: ${actual} was given to something else before`;
    known.add(actual);
    expected.value = actual;
    return null;
  }
  if (expected === anyText)
    return typeof actual === "string" && actual !== "" ? null : `${at}: ${actual} is no text`;
  if (expected === anySignedUrl) {
    return /^http:\/\/127\.0\.0\.1:\d+\/_signed\//.test(String(actual))
      ? null
      : `${at}: ${actual} is not signed`;
  }
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) {
    return expected === actual
      ? null
      : `${at}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  }
  const names = Object.keys(expected);
  const others = Object.keys(actual);
  if (names.length !== others.length || !names.every((name) => name in actual)) {
    return `${at}: has ${others.join()} instead of ${names.join()}`;
  }
  for (const name of names) {
    const [one, other] = [expected, actual] as Record<string, unknown>[];
    const found = difference(one![name], other![name], known, `${at}.${name}`);
    if (found !== null) return found;
  }
  return null;
}
