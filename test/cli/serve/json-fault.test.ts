import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonFault } from "../../../src/cli/commands/serve/json-fault.ts";
import { repetitions } from "../../support/repetitions.ts";

/** What is told of a text that `JSON.parse` does not take. */
function faultOf(text: string) {
  try {
    JSON.parse(text);
  } catch (error) {
    return jsonFault(text, (error as Error).message);
  }
  throw new Error("it is JSON");
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
  ["", 1, "it ends too early"],
  ["\n\n", 1, "it ends too early"],
  ["[\n\n", 1, "it ends too early"],
  ['{\n"a":\n', 2, "it ends too early"],
])("%j goes wrong on line %d", (text, line, what) => {
  const fault = faultOf(text);
  expect(fault).toEqual({ line, what });
});

test("a sign that no value begins with is found wherever it stands", () => {
  const line = fc.constantFrom("1,", '"?",', '"1, ?, 1",', "null,", `${long},`, "", '{"a":[1,2]},');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(line, { maxLength: 8 }), (before, after) => {
      const text = ["[", ...before, "?,", ...after, "0]"].join("\n");
      expect(faultOf(text)).toEqual({ line: before.length + 2, what: "Unexpected token '?'" });
    }),
    { seed: 20_261_121, numRuns: repetitions(200, 5_000) },
  );
});
