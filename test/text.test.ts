import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hadUnseenEnds, hasUnseen, lookOf, visible, withoutUnseenEnds } from "../src/text.ts";

const oddText = fc
  .array(
    fc.constantFrom(..." \t\n\u00a0\u00ad\u200b\u200d\u200e\u2060\ufeff\ufe0f\u0301\u2800\u3164Aaé😀Ａ-"),
    {
      maxLength: 12,
    },
  )
  .map((characters) => characters.join(""));

describe("what cannot be seen is cut at the ends of a text", () => {
  test.for([
    ["P-1", "P-1", false],
    ["  P-1\t", "P-1", false],
    ["P-1\u00a0\u3000\u2028", "P-1", false],
    ["P-1\u200b", "P-1", true],
    ["\ufeffP-1", "P-1", true],
    ["\u200e \u202aP-1\u202c \u0007", "P-1", true],
    ["\u00ad\u2060\u180e\u034f\u3164\u2800", "", true],
    ["P-1\u{e0041}\u{e007f}\ufeff", "P-1", true],
    ["P\u200b-1", "P\u200b-1", false],
    ["\u200d👩\u200d🎤\u200d", "👩\u200d🎤", true],
    ["I ❤\ufe0f", "I ❤\ufe0f", false],
    ["\ufe0fA", "A", true],
    ["\u0600123", "\u0600123", false],
    ["", "", false],
  ] as const)("%j becomes %j", ([text, cut, isMore]) => {
    expect(withoutUnseenEnds(text)).toBe(cut);
    expect(hadUnseenEnds(text, cut)).toBe(isMore);
  });

  test("and nothing else: what is left begins and ends with what can be seen, and is in the text", () => {
    fc.assert(
      fc.property(oddText, (text) => {
        const cut = withoutUnseenEnds(text);
        expect(withoutUnseenEnds(cut)).toBe(cut);
        expect(text).toContain(cut);
        const [before, after] = [
          text.slice(0, text.indexOf(cut)),
          text.slice(text.indexOf(cut) + cut.length),
        ];
        expect(`${before}${after}`).not.toMatch(/[Aaé😀Ａ-]/u);
        expect(visible(cut).trim()).toBe(visible(cut));
        if (cut === "") expect(lookOf(text)).toBe("");
      }),
    );
  });
});

test("a long text of nothing is cut in time that grows with its length", () => {
  expect(withoutUnseenEnds(`${"\u200b ".repeat(100_000)}A${" \u200b".repeat(100_000)}`)).toBe("A");
});

describe("texts that look equal have one look", () => {
  test.for([
    ["P-2", "Ｐ-2"],
    ["Cafe\u0301", "Café"],
    ["P-1", "P\u00ad-1"],
    ["Cafe\u200b\u0301", "Café"],
    ["A 1", "A\u00a01"],
    ["ﬁn-1", "fin-1"],
    ["①", "1"],
    ["❤\ufe0f", "❤"],
  ] as const)("%j and %j", ([one, other]) => {
    expect(lookOf(one)).toBe(lookOf(other));
    expect(one).not.toBe(other);
  });

  test.for([
    ["P-2", "p-2"],
    ["P-1", "P\u20111"],
    ["P-1", "P1"],
    ["A", "А"],
    ["01", "1"],
  ] as const)("%j and %j do not", ([one, other]) => {
    expect(lookOf(one)).not.toBe(lookOf(other));
  });

  test("the look of a look is itself, and has nothing that cannot be seen", () => {
    fc.assert(
      fc.property(fc.oneof(oddText, fc.string({ unit: "binary", maxLength: 20 })), (text) => {
        expect(lookOf(lookOf(text))).toBe(lookOf(text));
        expect(hasUnseen(lookOf(text).replace(/[\u2028\u2029]/g, ""))).toBe(false);
      }),
    );
  });
});
