import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine, visibleInCell } from "../../../src/cli/output/visible.ts";
import { visible } from "../../../src/text.ts";

/** Characters with an effect on a terminal, by Unicode category: controls, bidirectional formats, separators. */
const unseen = /[\p{Cc}\u2028\u2029\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const anyText = fc.string({ unit: "binary", maxLength: 40 });
const controls = fc.array(fc.constantFrom(..."\0\t\n\r\u001b\u007f\u0085\u009b\u202e\u2066\ufeffaé😀\\"), {
  maxLength: 20,
});

test.for([
  ["plain é 😀 日本", "plain é 😀 日本"],
  ["a\tb\r\nc", "a\\tb\\r\\nc"],
  ["\u001b]0;title\u0007", "\\x1b]0;title\\x07"],
  ["\u009b31m\u007f", "\\x9b31m\\x7f"],
  ["abc\u202edef\u2066", "abc\\u202edef\\u2066"],
  ["\ufeffx\u2028y", "\\ufeffx\\u2028y"],
  ["P\u200b-1\u00ad\u2060", "P\\u200b-1\\xad\\u2060"],
  ["a\u{e0041}\u{e007f}b\u034fc\u3164\u115f", "a\\u{e0041}\\u{e007f}b\\u034fc\\u3164\\u115f"],
  ["\u200dab\u200dc\u200c", "\\u200dab\\u200dc\\u200c"],
  ["a\ufe0f\ufe01\u{e0100}", "a\ufe0f\\ufe01\\u{e0100}"],
  // What names need.
  ["👩🏽\u200d🎤 ❤\ufe0f\u200d🔥 👨\u200d👩\u200d👧", "👩🏽\u200d🎤 ❤\ufe0f\u200d🔥 👨\u200d👩\u200d👧"],
  ["می\u200cخواهم क्\u200dष e\u0301 葛\u{e0100}", "می\u200cخواهم क्\u200dष e\u0301 葛\u{e0100}"],
] as const)("%j is shown as %j", ([text, shown]) => {
  expect(visible(text)).toBe(shown);
});

test("the output keeps tabs and line ends in a CSV cell, which is quoted", () => {
  expect(visibleInCell("a\tb\r\nc\u001b\u0000")).toBe("a\tb\r\nc\\x1b\\x00");
});

test("the output escapes every invisible character, and leaves visible ones unchanged", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        controls.map((list) => list.join("")),
      ),
      (text) => {
        expect(visible(text)).not.toMatch(unseen);
        if (!/[\p{Cc}\p{Cf}\p{DI}\u2028\u2029\u2800]/u.test(text)) expect(visible(text)).toBe(text);
      },
    ),
  );
});

test("the output prints JSON on one line, without invisible characters, with the same value", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        controls.map((list) => list.join("")),
      ),
      (text) => {
        const line = jsonLine({ [text]: [text] });
        expect(line.slice(0, -1)).not.toMatch(unseen);
        expect(line.at(-1)).toBe("\n");
        expect(Object.entries(JSON.parse(line))).toEqual([[text, [text]]]);
      },
    ),
  );
});
