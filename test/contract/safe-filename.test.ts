import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeFilename } from "../../src/contract/image-file.ts";

test.each([
  ["DRESS-0001", "DRESS-0001_front.jpg"],
  ["A/B\\C", "A_B_C_front.jpg"],
  ["../../etc/passwd", "__.._etc_passwd_front.jpg"],
  ["..", "__front.jpg"],
  [".hidden", "_hidden_front.jpg"],
  ["  x", "_x_front.jpg"],
  ["", "__front.jpg"],
  ["C:\\x", "C__x_front.jpg"],
  ['a*b?c"d<e>f|g:h', "a_b_c_d_e_f_g_h_front.jpg"],
  ["a\u0000b\nc\u001bd\u007fe\u0085f", "a_b_c_d_e_f_front.jpg"],
  ["gpj\u202efdp", "gpj_fdp_front.jpg"],
  ["\ud800x", "_x_front.jpg"],
  ["CON.x", "_CON.x_front.jpg"],
  ["lpt1 .x", "_lpt1 .x_front.jpg"],
  ["CONIN$.x", "_CONIN$.x_front.jpg"],
  ["CONE", "CONE_front.jpg"],
  ["in\u200bvis\u00adible", "in_vis_ible_front.jpg"],
  // Composed and decomposed letters give the same name.
  ["e\u0301", "\u00e9_front.jpg"],
  ["Ärmel 日本", "Ärmel 日本_front.jpg"],
])("safeFilename makes %j from %j", (stem, expected) => {
  expect(safeFilename(stem, "_front.jpg")).toBe(expected);
});

test.each([
  ["nul", "_nul.jpg"],
  ["COM1", "_COM1.jpg"],
])("avoids the device name %j: %j", (stem, expected) => {
  expect(safeFilename(stem, ".jpg")).toBe(expected);
});

describe("a long name", () => {
  test.each([
    [189, 200],
    [190, 200],
    [191, 200],
  ])("of %d letters is shortened to 200 bytes, including the complete ending", (length) => {
    const name = safeFilename("x".repeat(length), "_front.jpg");
    expect(name).toBe(`${"x".repeat(Math.min(length, 190))}_front.jpg`);
  });

  test("is not split within a character", () => {
    expect(safeFilename(`x${"\u{1f457}".repeat(100)}`, ".jpg")).toBe(`x${"\u{1f457}".repeat(48)}.jpg`);
  });
});

test("any text gives the name of one file in the folder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (stem) => {
      const name = safeFilename(stem, "_2.jpg");
      expect(name).not.toMatch(/[/\\\0-\x1f\x7f-\x9f]/);
      expect(name).not.toMatch(/^\.|^\s/);
      expect(name.endsWith("_2.jpg")).toBe(true);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(201);
      expect(name).not.toMatch(/\p{Cs}/u);
      expect(safeFilename(name.slice(0, -6), "_2.jpg")).toBe(name);
    }),
  );
});
