import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { commandNames } from "../../src/cli/command-names.ts";
import { ulidPattern } from "../../src/contract/limits.ts";
import { customAngleShotPrefix, orientations } from "../../src/contract/value-sets.ts";
import { repetitions } from "../support/repetitions.ts";
import { type Expression, expressionsIn, isUnlimited } from "./expressions.ts";

/** The form of recheck in JavaScript alone: no program of others is run. */
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");

type Attack = Extract<ReturnType<typeof checkSync>, { status: "vulnerable" }>["attack"];

/** The time for one expression: nearly all take less, and `npm run test:long` waits for the others. */
const timeout = repetitions(40, 120_000);

/** Expressions that may take time by the square of their text, and why no text of others reaches them. */
const exceptions: Readonly<Record<string, string>> = {
  "src/flows/generate/gallery/write-gallery.ts: ^import [^;]*;\\n":
    "it reads the scripts of the gallery's page, which are files of this program",
};

const flagIn = String.raw`'(?:-\w, )?(-[^ ']*)(?: [^']*)?'`;
const command = `(?<![\\w./'"-])cat(?= (?:${[...commandNames, "COMMAND"].join("|")})(?![\\w/-]|\\.\\w))`;

/** Expressions that are made when the program runs, as they are for typical values; null for those with a reason. */
const samples: Readonly<Record<string, { source: string; flags: string } | null>> = {
  "src/cli/command-names.ts: RegExp(`${command}.`)": { source: `${command}.`, flags: "" },
  'src/cli/command-names.ts: RegExp([...typed, \'"(?!\\\\$\\\\()[^"\\\\n]*"\', command].join("|"), "g")': {
    source: ["a\\.csv", '"(?!\\$\\()[^"\\n]*"', command].join("|"),
    flags: "g",
  },
  "src/contract/generation-rules.ts: RegExp(`^${sets.customAngleShotPrefix}[A-Za-z0-9_-]+$`)": {
    source: `^${customAngleShotPrefix}[A-Za-z0-9_-]+$`,
    flags: "",
  },
  'src/flows/rows/added-quotes.ts: RegExp(`(^|[\\\\r\\\\n]|${between})${cell}(?=$|[\\\\r\\\\n]|${between})`, "gu")':
    {
      source: '(^|[\\r\\n]|,)(=[ \\t]*"(?:[^"\\r\\n]|"")*"[ \\t]*)(?=$|[\\r\\n]|,)',
      flags: "gu",
    },
  'src/flows/rows/find-encodings.ts: RegExp(`\\\\p{Script=${script}}`, "u")': {
    source: "\\p{Script=Latin}",
    flags: "u",
  },
  'src/flows/rows/find-encodings.ts: RegExp(`\\\\p{L}[^\\\\p{L}\\\\p{M}\\\\p{N}\\\\x00-\\\\x7f’‘–—${joined}]+\\\\p{L}`, "u")':
    {
      source:
        "\\p{L}[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f’‘–—\\u05be\\u05f3\\u05f4\\u060c\\u061b\\u061f\\u200c-\\u200f\\u3000-\\u303f\\u30fb\\uff00-\\uff65]+\\p{L}",
      flags: "u",
    },
  'src/flows/rows/find-encodings.ts: RegExp(`(?!©\\\\p{Lu}\\\\p{Ll})[^\\\\p{L}\\\\p{M}\\\\p{N}\\\\x00-\\\\x7f“„«‘’‹”»–—¿¡°•${joined}]\\\\p{L}`, "u")':
    {
      source:
        "(?!©\\p{Lu}\\p{Ll})[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f“„«‘’‹”»–—¿¡°•\\u05be\\u05f3\\u05f4\\u060c\\u061b\\u061f\\u200c-\\u200f\\u3000-\\u303f\\u30fb\\uff00-\\uff65]\\p{L}",
      flags: "u",
    },
  'src/flows/rows/find-encodings.ts: RegExp(`\\\\p{L}[^\\\\p{L}\\\\p{M}\\\\p{N}\\\\x00-\\\\x7f”“»«’‘›…®©™°×€–—${joined}]`, "u")':
    {
      source:
        "\\p{L}[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f”“»«’‘›…®©™°×€–—\\u05be\\u05f3\\u05f4\\u060c\\u061b\\u061f\\u200c-\\u200f\\u3000-\\u303f\\u30fb\\uff00-\\uff65]",
      flags: "u",
    },
  'src/flows/rows/find-encodings.ts: RegExp( `[A-Za-z]{2}${eastern}(?!${eastern})|(?<!${eastern})${eastern}[A-Za-z]{2}|${eastern}[a-z](?![A-Za-z])`, "u", )':
    {
      source:
        "[A-Za-z]{2}[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}](?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}])|(?<![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}])[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}][A-Za-z]{2}|[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}][a-z](?![A-Za-z])",
      flags: "u",
    },
  // The patterns of the contract are literals of src/contract/.
  'src/contract/response-shape.ts: RegExp(pattern, "u")': null,
  'src/http/mask.ts: RegExp([...key].map(characterForms).join(""), "g")': {
    source: "(?:\\x61|(?<!\\\\)(?:\\\\u0061)|%61)(?:\\x2f|(?<!\\\\)(?:\\\\u002[fF]|\\\\/)|%2[fF])",
    flags: "g",
  },
  "src/cli/flags/usage-error.ts: RegExp(`^option ${flagIn} argument '(.*)' is invalid\\\\. (.*)$`, \"s\")": {
    source: `^option ${flagIn} argument '(.*)' is invalid\\. (.*)$`,
    flags: "s",
  },
  "src/cli/flags/usage-error.ts: RegExp(`^option ${flagIn} cannot be used with option ${flagIn}$`)": {
    source: `^option ${flagIn} cannot be used with option ${flagIn}$`,
    flags: "",
  },
  'src/cli/flags/values.ts: RegExp(ulidPattern, "i")': { source: ulidPattern.source, flags: "i" },
  "src/cli/commands/listen/trigger.ts: RegExp(ulidPattern)": { source: ulidPattern.source, flags: "" },
  "src/flows/files/file-names.ts: RegExp(`^\\\\.${start}(\\\\d+)-\\\\w+\\\\.part$`)": {
    source: "^\\.0123456789ab-(\\d+)-\\w+\\.part$",
    flags: "",
  },
  "src/flows/files/xmp.ts: RegExp(`\\\\s${rdf}about\\\\s*=\\\\s*(\"[^\"]*\"|'[^']*')`)": {
    source: "\\srdf:about\\s*=\\s*(\"[^\"]*\"|'[^']*')",
    flags: "",
  },
  'src/flows/import/file-row.ts: RegExp( `[-_ ](${orientations.map((name) => name.replaceAll("-", "[-_ ]")).join("|")})$`, "i", )':
    {
      source: `[-_ ](${orientations.map((name) => name.replaceAll("-", "[-_ ]")).join("|")})$`,
      flags: "i",
    },
  'src/flows/outputs/formulas.ts: RegExp(`^(?:[\\\\t\\\\r\\\\n]|${spaces}([^\\\\s]))`, "u")': {
    source: "^(?:[\\t\\r\\n]|[\\s\\u180e\\u200b-\\u200d\\u2060\\ufeff]*([^\\s]))",
    flags: "u",
  },
  // They repeat nothing.
  'src/text.ts: RegExp(hidden, "gu")': null,
  'src/text.ts: RegExp(`^(?:\\\\s|${hidden})`, "u")': null,
  'src/text.ts: RegExp(`(?:\\\\s|${hidden})$`, "u")': null,
  // The user's own pattern, for paths, whose length the file system limits.
  'src/flows/photos/name-pattern.ts: RegExp(`^${start}$`, "iu")': null,
  'src/flows/photos/name-pattern.ts: RegExp(`^${end}$`, "iu")': null,
  'src/flows/photos/name-pattern.ts: RegExp(`^${start}(?<reference>[^/]+?)${end}$`, "iu")': null,
};

/** What is wrong with an expression, with the text that shows it; null if nothing was found. */
function fault({ source, flags }: Omit<Expression, "at">, limit = timeout): string | null {
  // A fixed seed: the same text is found each time.
  const { status, ...found } = checkSync(source, flags, { timeout: limit, randomSeed: 0 });
  // `npm run test:long` gives each expression time for an answer.
  if (status === "unknown") return limit < 1_000 ? null : "recheck has no answer";
  if (status === "safe" || !("attack" in found)) return null;
  const expression = new RegExp(source, flags);
  const text = longText(found.attack!);
  const before = process.cpuUsage();
  expression.exec(text);
  // A linear expression takes 1 ms, any other one 0.5 s and more. So a wrong guess of recheck does not count.
  return process.cpuUsage(before).user < 100_000 ? null : `is slow for ${found.attack!.pattern}`;
}

/** The text that shows how slow an expression is, with about 30,000 characters. */
function longText({ pumps, suffix }: Attack): string {
  const repeated = pumps.reduce((length, { pump }) => length + pump.length, 0);
  const count = Math.ceil(30_000 / repeated);
  return pumps.map(({ prefix, pump }) => prefix + pump.repeat(count)).join("") + suffix;
}

test.each(
  [
    ["[.\\s]+$", ""],
    ["^[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?$", ""],
  ].slice(0, repetitions(1, 2)) as [string, string][],
)("the check finds that %s is slow", (source, flags) => {
  expect(isUnlimited({ source })).toBe(true);
  expect(fault({ source, flags }, 60_000)).toMatch(/^is slow for /);
});

test("no expression of the program takes time by the square of its text", () => {
  const { literals, made } = expressionsIn(["src", "bin"]);
  // A literal of several places is checked for all of them.
  const places = new Map<string, Expression[]>();
  for (const literal of literals.filter(isUnlimited)) {
    const key = `${literal.source} ${literal.flags}`;
    places.set(key, [...(places.get(key) ?? []), literal]);
  }
  // Each third one in `npm test`: all take 10 s.
  const checked = [...places.values()].filter((_, at) => at % repetitions(6, 1) === 0);
  const slow = checked.flatMap((all) => {
    const isKnown = ({ at, source }: Expression) =>
      Object.hasOwn(exceptions, `${at.replace(/:\d+$/, "")}: ${source}`);
    const unknown = all.filter((one) => !isKnown(one));
    const why = unknown.length === 0 ? null : fault(unknown[0]!);
    return why === null ? [] : unknown.map(({ at, source }) => `${at}: /${source}/ ${why}`);
  });
  const sampled = made.flatMap(({ at, key }) => {
    const sample = samples[key];
    const why = sample === undefined ? "has no sample here" : sample === null ? null : fault(sample);
    return why === null ? [] : [`${at}: ${key} ${why}`];
  });
  expect([...slow, ...sampled]).toEqual([]);
  // Each exception is needed.
  const all = literals.map(({ at, source }) => `${at.replace(/:\d+$/, "")}: ${source}`);
  expect(Object.keys(exceptions).filter((key) => !all.includes(key))).toEqual([]);
  expect(Object.keys(samples).filter((key) => !made.some((one) => one.key === key))).toEqual([]);
});
