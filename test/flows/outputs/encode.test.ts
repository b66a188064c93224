import { describe, expect, test } from "vitest";
import { canEncode, createEncoder } from "../../../src/flows/outputs/encoded-file.ts";

/** Every encoding of Node's decoder that can be written. */
const encodings = (
  "utf-8 utf-16le utf-16be ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i " +
  "iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1252 " +
  "windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk big5 euc-jp shift_jis euc-kr"
).split(" ");

const decode = (bytes: Uint8Array, encoding: string): string => {
  const decoder = new TextDecoder(encoding);
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
};

/** Every character that an encoding has in one or two bytes. */
function everything(encoding: string): string {
  const bytes: number[] = [];
  for (let one = 0; one < 0x100; one++) bytes.push(one, 0x0a);
  for (let one = 0x80; one < 0xff; one++) for (let two = 0x40; two < 0xff; two++) bytes.push(one, two, 0x0a);
  return decode(Uint8Array.from(bytes), encoding).replace(/[\u0080-\u009f\ufffd]/g, "");
}

describe("text is encoded as it was decoded", () => {
  test.each(encodings)("in %s", (encoding) => {
    const text = encoding.startsWith("utf") ? "Größe ἄλφα 女 😀 \u{10ffff}\r\n" : everything(encoding);
    expect(decode(createEncoder(encoding, () => "?")(text), encoding)).toBe(text);
  });
});

test.each([
  ["windows-1252", "12 € “ü”", "3132 80 93fc94"],
  ["iso-8859-15", "€", "a4"],
  ["macintosh", "€ ä Ω", "db 8a bd"],
  ["windows-1251", "Ж", "c6"],
  ["shift_jis", "女ｱ", "8f97b1"],
  ["gbk", "女", "c5ae"],
  ["big5", "女", "a46b"],
  ["euc-kr", "한", "c7d1"],
  ["euc-jp", "丂", "8fb0a1"],
  ["utf-16be", "é", "00e9"],
])("in %s %j is %s", (encoding, text, hex) => {
  const bytes = createEncoder(encoding, () => "?")(text.replaceAll(" ", ""));
  expect(bytes.toString("hex")).toBe(hex.replaceAll(" ", ""));
});

test("a character that the encoding lacks is replaced as the caller specifies", () => {
  expect(createEncoder("windows-1252", () => "?")("aλ😀\u0081b").toString("latin1")).toBe("a???b");
  expect(
    createEncoder("windows-1252", (character) => `<${character.codePointAt(0)}>`)("λ").toString("latin1"),
  ).toBe("<955>");
});

test("encodings with escape sequences or four bytes per character are not written", () => {
  expect(["iso-2022-jp", "gb18030", "windows-1252"].map(canEncode)).toEqual([false, false, true]);
});
