import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { explain } from "../../../../src/cli/output/explain.ts";
import { rawZip, unicodePath } from "../../../support/raw-zip.ts";
import { extracted } from "./extracting.ts";

const out = "leads out of the folder";
const invisible = "has invisible characters in its name";
const device = "has a name that Windows reserves for devices";
const ending = "has a name that ends with a dot or a space";
const long = "has a name that is too long";
const empty = "has an empty name";

const names: [name: string, why: string][] = [
  ["..", out],
  [".", out],
  ["../a.jpg", out],
  ["../../../../../../tmp/catalogue-hostile.jpg", out],
  ["a/../b.jpg", out],
  ["a/../../b.jpg", out],
  ["a/./b.jpg", out],
  ["./a.jpg", out],
  ["a/..", out],
  ["a/../", out],
  ["/tmp/catalogue-hostile.jpg", "is an absolute path"],
  ["/", "is an absolute path"],
  ["//server/share/a.jpg", "is an absolute path"],
  ["C:/a.jpg", "starts with a drive letter"],
  ["c:a.jpg", "starts with a drive letter"],
  ["Z:", "starts with a drive letter"],
  ["..\\a.jpg", "has a backslash in its name"],
  ["a\\b.jpg", "has a backslash in its name"],
  ["C:\\a.jpg", "has a backslash in its name"],
  ["\\\\server\\share\\a.jpg", "has a backslash in its name"],
  ["\\\\?\\C:\\a.jpg", "has a backslash in its name"],
  ["", empty],
  ["a//b.jpg", empty],
  ["a//", empty],
  ["a\0.jpg", invisible],
  ["a.jpg\0.exe", invisible],
  ["a\n.jpg", invisible],
  ["a\r.jpg", invisible],
  ["a\t.jpg", invisible],
  ["\x1b[2Ja.jpg", invisible],
  ["a\x7f.jpg", invisible],
  ["a\u0085.jpg", invisible],
  ["a\u009b2J.jpg", invisible],
  ["a\u202egpj.exe", invisible],
  ["a\u202a.jpg", invisible],
  ["a\u2066.jpg", invisible],
  ["a\u200f.jpg", invisible],
  ["a\u200e.jpg", invisible],
  ["a\u061c.jpg", invisible],
  ["a\u2028.jpg", invisible],
  ["a\u2029.jpg", invisible],
  ["\ufeffa.jpg", invisible],
  ["CON", device],
  ["con.jpg", device],
  ["aux.jpg", device],
  ["Nul.tar.gz", device],
  ["PRN", device],
  ["com1.jpg", device],
  ["LPT9", device],
  ["com\u00b2.jpg", device],
  ["con .jpg", device],
  ["photos/aux.jpg", device],
  ["aux/a.jpg", device],
  ["a.", ending],
  ["a.jpg.", ending],
  ["a.jpg ", ending],
  ["...", ending],
  [" ", ending],
  ["a./b.jpg", ending],
  [`${"x".repeat(296)}.jpg`, long],
  [`${"\u00e9".repeat(150)}`, long],
  [`${"d".repeat(300)}/a.jpg`, long],
  [`${"d/".repeat(600)}a.jpg`, "has a path that is too long"],
];

const shown = (name: string) => (name.length <= 80 ? `"${name}"` : `"${name.slice(0, 60)}…"`);

test.each(names)("the extraction of ZIPs rejects an archive with the name %j", async (name, why) => {
  const { error, tree, left } = await extracted([rawZip([{ name: "good.jpg", data: "good" }, { name }])]);
  expect((error as Error).message).toBe(`1.zip is not safe to extract: ${shown(name)} ${why}`);
  expect({ tree, left }).toEqual({ tree: null, left: [] });
  expect(existsSync("/tmp/catalogue-hostile.jpg")).toBe(false);
});

test.each(names.filter(([name]) => name !== ""))(
  "the extraction of ZIPs rejects %j as the second name of an entry",
  async (name, why) => {
    const zip = rawZip([
      { name: "good.jpg", extra: unicodePath("good.jpg", name), local: { extra: Buffer.alloc(0) } },
    ]);
    const { error, tree, left } = await extracted([zip]);
    expect((error as Error).message).toBe(`1.zip is not safe to extract: ${shown(name)} ${why}`);
    expect({ tree, left }).toEqual({ tree: null, left: [] });
  },
);

test("at least 50 hostile names are tried", () => {
  expect(names.length).toBeGreaterThanOrEqual(50);
});

test.each([
  [
    "bytes that are not UTF-8",
    Buffer.from([0x61, 0xff, 0x62]),
    0x0800,
    "a\ufffdb",
    "has a name that is not valid text",
  ],
  [
    "a hidden slash",
    Buffer.from([0xc0, 0xaf, 0x61]),
    0x0800,
    "\ufffd\ufffda",
    "has a name that is not valid text",
  ],
  ["control characters in the old character set", Buffer.from("a\x1b.jpg"), 0, "a\x1b.jpg", invisible],
])("the extraction of ZIPs rejects a name with %s", async (_what, name, flags, text, why) => {
  const { error, tree, left } = await extracted([rawZip([{ name, flags }])]);
  expect((error as Error).message).toBe(`1.zip is not safe to extract: "${text}" ${why}`);
  expect({ tree, left }).toEqual({ tree: null, left: [] });
});

test("the extraction of ZIPs makes the characters of a hostile name visible on the terminal", async () => {
  const { error } = await extracted([rawZip([{ name: "\x1b[2J\u202egpj.exe" }])]);
  expect(explain(error, { json: false, verbose: false, width: 200, paint: (text: string) => text })).toBe(
    'error: 1.zip is not safe to extract: "\\x1b[2J\\u202egpj.exe" has invisible characters in its name\n' +
      "Nothing was extracted. Use --out instead of --extract, and check the ZIP with another program.\n",
  );
});

test.each([
  [".hidden.jpg", ".hidden.jpg"],
  ["-rf", "-rf"],
  ["~", "~"],
  ["$(id).jpg", "$(id).jpg"],
  ["50% off & more, #1.jpg", "50% off & more, #1.jpg"],
  ["caf\u00e9 \u{1f457}.jpg", "caf\u00e9 \u{1f457}.jpg"],
  ["cafe\u0301.jpg", "cafe\u0301.jpg"],
  ["console.jpg", "console.jpg"],
  ["a..b...jpg", "a..b...jpg"],
  [`${"x".repeat(236)}.jpg`, `${"x".repeat(236)}.jpg`],
  ["SKU:1.jpg", "SKU_1.jpg"],
  ['a"b<c>d|e?f*g.jpg', "a_b_c_d_e_f_g.jpg"],
])("extracts %j as %j", async (name, file) => {
  const { result, tree, left } = await extracted([rawZip([{ name, data: "photo" }])]);
  expect(tree).toEqual({ [file]: "photo" });
  expect(result?.renamed).toEqual(name === file ? [] : [{ archive: "1.zip", entry: name, file }]);
  expect(left).toEqual([]);
});

test("the extraction of ZIPs reads names of the old character set", async () => {
  const zip = rawZip([{ name: Buffer.from([0x63, 0x61, 0x66, 0x82]), flags: 0, data: "photo" }]);
  expect((await extracted([zip])).tree).toEqual({ "caf\u00e9": "photo" });
});
