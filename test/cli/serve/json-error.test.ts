import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonError } from "../../../src/cli/commands/serve/json-error.ts";
import { repetitions } from "../../support/repetitions.ts";

/** The error in a text that `JSON.parse` rejects. */
function faultOf(text: string) {
  try {
    JSON.parse(text);
  } catch (error) {
    return jsonError(text, (error as Error).message);
  }
  throw new Error("the text is valid JSON");
}

const long = `"${"x".repeat(60)}"`;

test.each([
  ['\n\n{"a":1,\n"b":}', 4, "Unexpected token '}'"],
  ['{"a":1,\n"b":}', 2, "Unexpected token '}'"],
  ['{"}":\n}', 2, "Unexpected token '}'"],
  ["oops", 1, "Unexpected token 'o'"],
  ["\n\noops", 3, "Unexpected token 'o'"],
  ["\n\n\n[\n]\n]", 6, "Unexpected non-whitespace character"],
  [`[\n1,\n?,\n${long}]`, 3, "Unexpected token '?'"],
  [`[${long},\n\n\n?]`, 4, "Unexpected token '?'"],
  [`[${long},\n\n\n?\n\n\n]`, 4, "Unexpected token '?'"],
  [`[${long},\n\n?,\n${long}]`, 3, "Unexpected token '?'"],
  [`[\n"1234567890, ?, 1234567890",\n1234567890, ?, 1234567890]`, 3, "Unexpected token '?'"],
  ['{\n"a": nul\n}', 2, "Unexpected token '\n'"],
  ["", 1, "unexpected end of file"],
  ["\n\n", 1, "unexpected end of file"],
  ["[\n\n", 1, "unexpected end of file"],
  ['{\n"a":\n', 2, "unexpected end of file"],
])("%j has its first error on line %d", (text, line, what) => {
  const fault = faultOf(text);
  expect(fault).toEqual({ line, what });
});

test("an invalid character is found on any line", () => {
  const line = fc.constantFrom("1,", '"?",', '"1, ?, 1",', "null,", `${long},`, "", '{"a":[1,2]},');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(line, { maxLength: 8 }), (before, after) => {
      const text = ["[", ...before, "?,", ...after, "0]"].join("\n");
      expect(faultOf(text)).toEqual({ line: before.length + 2, what: "Unexpected token '?'" });
    }),
    { seed: 20_261_121, numRuns: repetitions(200, 5_000) },
  );
});
