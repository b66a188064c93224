import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DeepJsonError, parseCutJson, parseJson } from "../src/json.ts";

/** A value below that many levels, each a list or an object of other values. */
const nested = (levels: number, inner = "1"): string =>
  Array.from({ length: levels }).reduce<string>(
    (text, _, level) => (level % 2 === 0 ? `["]}",${text}]` : `{"[{":null,"a":${text}}`),
    inner,
  );

describe("JSON from outside", () => {
  test("has 100 levels at most", () => {
    expect(parseJson(nested(100))).toEqual(JSON.parse(nested(100)));
    expect(() => parseJson(nested(101))).toThrow(new DeepJsonError(nested(101)));
    expect(() => parseJson(nested(101))).toThrow("JSON nested deeper than 100 levels");
  });

  test.each([
    ["10,000,000 lists", "[".repeat(1e7)],
    ["10,000,000 objects", '{"a":'.repeat(1e7)],
    ["complete lists", nested(1e5)],
    ["lists of 2 MB after a space", ` \n${"[".repeat(1e6)}${"]".repeat(1e6)}`],
  ])("fails as invalid JSON for %s, without a stack overflow", (_, text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test.each([
    ["brackets in a text", JSON.stringify("[".repeat(2e6))],
    ["escaped quotes", JSON.stringify({ a: `${'\\"['.repeat(1e6)}` })],
    ["many entries", JSON.stringify(Array.from({ length: 3e5 }, () => [{}]))],
  ])("of more than 1 MB with %s is read", (_, text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  test("of more than 1 MB that is something else fails as such", () => {
    expect(() => parseJson(`null${"[".repeat(2e6)}`)).not.toThrow(DeepJsonError);
    expect(() => parseJson(`null${"[".repeat(2e6)}`)).toThrow(SyntaxError);
  });

  test("is read as JSON.parse does, or is deep", () => {
    const levelsOf = (value: unknown): number =>
      typeof value !== "object" || value === null
        ? 0
        : 1 + Math.max(0, ...Object.values(value).map(levelsOf));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 90, max: 102 }), (value, levels) => {
        const text = nested(levels, JSON.stringify(value));
        const expected = JSON.parse(text);
        const { value: read, isDeep } = parseCutJson(text);
        expect(isDeep).toBe(levelsOf(expected) > 100);
        if (!isDeep) expect(read).toEqual(expected);
        expect(levelsOf(read)).toBe(Math.min(100, levelsOf(expected)));
      }),
    );
  });

  test("keeps everything but what is too deep, for what must not be lost", () => {
    for (const levels of [200, 8_000, 1_000_000]) {
      const text = `{"id":"A","list":[1,${nested(levels)}],"secret":"B"}`;
      const { value, isDeep } = parseCutJson(text);
      expect([isDeep, value]).toMatchObject([true, { id: "A", list: [1, expect.anything()], secret: "B" }]);
      expect(() => JSON.stringify(value)).not.toThrow();
    }
  });

  test("is cut in a long text as in a short one", () => {
    const deep = `[${nested(105)},1,${nested(99)},${nested(100)},"[[",${nested(103)}]`;
    const long = parseCutJson(`[${deep},"${"[".repeat(2e6)}"]`).value as unknown[];
    expect(long[0]).toEqual((parseCutJson(`[${deep},""]`).value as unknown[])[0]);
  });

  test("reports the line that is too deep", () => {
    const text = `{\n"a": 1,\n"b": ${nested(98)},\n"c": ${nested(100)}}`;
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ line: 4 }));
  });
});

/** Files that parse JSON themselves, how often, and why that is safe. */
const exceptions: Readonly<Record<string, readonly [times: number, reason: string]>> = {
  "bin/catalogue.js": [1, "the list of commands, a file of the package"],
  "src/json.ts": [1, "the reader itself"],
  "src/cli/commands/commands.ts": [1, "a copy of the program's own list"],
  "src/cli/commands/api/body.ts": [1, "one of the words true, false and null"],
  "src/cli/mapping/map-file.ts": [2, "keys of JSON that was read, and the place of a mistake in other texts"],
  "src/flows/rows/merged-reader.ts": [1, "rows that this process has read, in a private copy"],
  "src/mock/tomorrow/tomorrow.ts": [1, "a response of the mock itself"],
  "src/mock-page/app/api.ts": [2, "runs in a browser: responses of the mock that serves the page"],
  "src/mock-page/app/main.tsx": [1, "runs in a browser: frames of the mock that serves the page"],
  "src/mock-page/app/parts.tsx": [1, "runs in a browser, which catches its errors"],
  "src/mock-page/app/describe.ts": [1, "runs in a browser: responses of the mock that serves the page"],
  "src/mock-page/app/fault-fields.ts": [1, "runs in a browser: the mock checks what is sent"],
  "src/flows/generate/gallery/page/images.js": [
    1,
    "runs in a browser: data that the program wrote into the page",
  ],
  "src/flows/generate/gallery/page/review.js": [3, "runs in a browser: its own data and storage"],
};

/** The code of src/ and bin/ by path, without comments. */
const code = ["src", "bin"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|tsx|js)$/.test(name))
    .map((name): [path: string, text: string] => {
      const text = readFileSync(join(folder, name), "utf8");
      return [join(folder, name), text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, "")];
    }),
);
const timesByPath = (pattern: RegExp): Record<string, number> =>
  Object.fromEntries(
    code
      .map(([path, text]): [string, number] => [path, [...text.matchAll(pattern)].length])
      .filter(([, times]) => times > 0),
  );

test("every other file reads JSON with parseJson", () => {
  expect(timesByPath(/\bJSON\s*(?:\??\.\s*parse\b|\[)|=\s*JSON\b(?!\.stringify)/g)).toEqual(
    Object.fromEntries(Object.entries(exceptions).map(([path, [times]]) => [path, times])),
  );
});

test("no file lets a stream or response of Node parse JSON", () => {
  // `RawResponse.json()` is one of the client.
  const ofClient = [
    "src/cli/commands/api/run.ts",
    "src/cli/commands/doctor/service-checks.ts",
    "src/flows/catalogue/service-check/service.ts",
  ];
  expect(Object.keys(timesByPath(/\.json\(\)/g)).sort()).toEqual(ofClient.map((path) => join(path)));
  const byStream = /import[^;]*\bjson\b[^;]*from "(?:node:)?stream\/consumers"/g;
  expect(timesByPath(byStream)).toEqual({});
});
