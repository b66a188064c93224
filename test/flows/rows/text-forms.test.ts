import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createEncoder } from "../../../src/flows/outputs/encoded-file.ts";
import { checkEncodingName } from "../../../src/flows/rows/encoding.ts";
import { UnreadableInput } from "../../../src/flows/rows/problem.ts";
import { firstLineEnd, utf8Chunks } from "../../../src/flows/rows/text.ts";

const text = "reference,name\nA1,Straße 😀 €\n";
const encoded = (encoding: string, content = text) => createEncoder(encoding, () => "?")(content);
const marked = (encoding: string) => encoded(encoding, `\ufeff${text}`);

/** The text of a file whose second half may arrive in chunks of `size` bytes, or the problem that ends it. */
async function read(bytes: Buffer, encoding?: string, size = bytes.length) {
  const half = size < bytes.length ? bytes.length >> 1 : bytes.length;
  const chunks = [bytes.subarray(0, half)];
  for (let at = half; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  const parts: Buffer[] = [];
  try {
    for await (const part of utf8Chunks(Readable.from(chunks), encoding)) parts.push(part);
  } catch (error) {
    if (error instanceof UnreadableInput) return error.problem;
    throw error;
  }
  return Buffer.concat(parts).toString("utf8");
}

describe("a text is recognized", () => {
  test.each(["utf-8", "utf-16le", "utf-16be"])(
    "as %s by its mark, wherever a chunk cuts it",
    async (encoding) => {
      for (const size of [1, 2, 3, 5, 1000]) expect(await read(marked(encoding), undefined, size)).toBe(text);
    },
  );

  test.each(["utf-8", "utf-16le", "utf-16be"])("as %s without a mark", async (encoding) => {
    for (const size of [1, 3, 1000]) expect(await read(encoded(encoding), undefined, size)).toBe(text);
  });

  test.each(["utf-16le", "utf-16be"])(
    "as %s if --encoding does not give its byte order",
    async (encoding) => {
      expect(await read(encoded(encoding), "utf-16")).toBe(text);
      expect(await read(marked(encoding), "utf-16")).toBe(text);
    },
  );

  test("in Windows-1252 with its euro sign and quotation marks", async () => {
    expect(await read(Buffer.from("93 80 94 fc".replaceAll(" ", ""), "hex"), "windows-1252")).toBe("“€”ü");
  });
});

describe("a text is rejected", () => {
  test.each([
    ["utf-16le", "utf-8"],
    ["utf-16be", "utf-16le"],
    ["utf-8", "windows-1252"],
    ["utf-8", "utf-16"],
  ])("if its mark says %s and --encoding says %s", async (mark, said) => {
    const message = `the byte order mark says ${mark}, but --encoding says ${said}: remove --encoding, or save the file again`;
    expect(await read(marked(mark), said)).toEqual({ line: 1, code: "wrong_encoding", message });
  });

  test("with the line that is not in the encoding", async () => {
    const bytes = Buffer.from("a\nb\r\nc\xff\nd\n", "latin1");
    expect(await read(bytes, "shift_jis")).toMatchObject({ line: 3, code: "wrong_encoding" });
    expect(await read(encoded("utf-16le", "a\nb\nc\ud800d\n"), "utf-16le")).toMatchObject({ line: 3 });
  });

  test.each([
    ["windows-1252", "a\ngrün\n", ""],
    ["windows-1252", "a\nb € 5\n", ""],
    ["windows-1250", "a\ngrün\n", ""],
    ["gb18030", "a\n连衣\n", ""],
    // Files of several programs, one after the other, and a file that was cut.
    ["windows-1252", "a\ngrün\n", "gr\xfcn\n"],
    ["windows-1252", "a\nb – 5\n", "gr\xfcn\n"],
    ["macintosh", "a\ngrün\n", "gr\xc3"],
  ])("if --encoding %s would make two letters of each of UTF-8: %j, %j", async (encoding, start, rest) => {
    const bytes = Buffer.concat([Buffer.from(start), Buffer.from(rest, "latin1")]);
    const message = `text is UTF-8 here, not ${encoding}: remove --encoding, or save the complete file as UTF-8`;
    for (const size of [3, 1000])
      expect(await read(bytes, encoding, size)).toEqual({ line: 2, code: "wrong_encoding", message });
  });

  test("if it is UTF-8 at its start only, with no advice to try an encoding", async () => {
    const bytes = Buffer.concat([Buffer.from("a\ngrün\n"), Buffer.from("blau, grün\n", "latin1")]);
    expect(await read(bytes)).toMatchObject({
      line: 3,
      message: expect.stringContaining('here ("grün"), but'),
    });
  });

  test("but not if it only could be UTF-8", async () => {
    for (const [encoding, content] of [
      ["windows-1252", "“LÔ 5 kg MAÇÃ\u00a0"],
      ["windows-1252", "Spaß…"],
      ["windows-1250", "ORĂŞ ă"],
      ["gbk", "女"],
    ] as const)
      expect(await read(encoded(encoding, content), encoding)).toBe(content);
  });

  test("if Windows-1252 lacks a byte, such as the ü of MS-DOS, with no advice to try it", async () => {
    const bytes = Buffer.from("a\nKleid gr\x81n\n", "latin1");
    const wrong = { line: 2, code: "wrong_encoding" };
    expect(await read(bytes, "windows-1252")).toMatchObject(wrong);
    const message =
      'the file is not UTF-8; its encoding is unknown ("Kleid gr\ufffdn"): save it as UTF-8 (in Excel: CSV UTF-8), or add --encoding';
    expect(await read(bytes)).toEqual({ ...wrong, message });
  });

  test.each([
    [
      "a few characters of long cells",
      "one two three fo\xfcr five six seven eight",
      "o three foür five six seve",
    ],
    ["no text of the lines next to it", "one\rtw\xf6\r\nthree", "twö"],
    ["nothing beyond a tab, and no control character", "a\tHemd gr\xfcn \xad\td", "Hemd grün \ufffd"],
    ["the text before a byte at the end of the file", "a,caf\xe9", "café"],
  ])("with the sample %s", async (_, content, sample) => {
    const problem = await read(Buffer.from(content, "latin1"));
    expect((problem as { message: string }).message).toContain(`--encoding windows-1252 ("${sample}")`);
  });
});

test.each([
  ["ANSI", "windows-1252"],
  ["cp1252", "windows-1252"],
  ["Windows 1252", "windows-1252"],
  ["latin-1", "windows-1252"],
  ["ISO-8859-15", "iso-8859-15"],
  ["MacRoman", "macintosh"],
  ["mac-roman", "macintosh"],
  ["UTF8", "utf-8"],
  ["utf_16_le", "utf-16le"],
  ["UTF-16", "utf-16"],
  ["Shift-JIS", "shift_jis"],
  ["CP932", "shift_jis"],
  ["cp936", "gbk"],
  ["windows-949", "euc-kr"],
  ["cp950", "big5"],
  ["MacCyrillic", "x-mac-cyrillic"],
])("--encoding %s is %s", (given, name) => {
  expect(checkEncodingName(given)).toBe(name);
});

test("an unknown encoding is rejected", () => {
  expect(() => checkEncodingName("klingon")).toThrow("unknown encoding: --encoding klingon");
});

test.each([
  ["a,b\r\nc\n", "\r\n"],
  ["a,b\nc\r\n", "\n"],
  ["a\rb\n", "\r"],
  ['"a\r\nb",c\nd', "\n"],
  ["a", "\n"],
  ["a\r", "\r"],
])("the lines of %j end with %j", async (content, lineEnd) => {
  expect(await firstLineEnd(Readable.from([Buffer.from(content)]), undefined)).toBe(lineEnd);
});
