import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { codeGroups } from "../../../scripts/reference/error-codes.ts";
import { tools } from "../../../src/cli/commands/mcp/tools.ts";
import { environment } from "../../../src/cli/settings/environment.ts";
import { imageErrorCodes, rowErrorCodes, taskFailureCodes } from "../../../src/contract/value-sets.ts";
import { codesOf, codesOfSources } from "./codes-of-sources.ts";
import { fieldsOfSources, wordsOfSources } from "./words-of-sources.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const listedCodes = codeGroups.flatMap(({ codes }) => Object.keys(codes));
const listedVariables = environment.flatMap(({ variables }) => variables.map(({ name }) => name));

describe("error codes", () => {
  test("every code in the sources has an entry that says what to do", () => {
    const missing = [...codesOfSources()].filter(
      ([code]) => !listedCodes.includes(code) && !notErrors.has(code),
    );
    expect(missing).toEqual([]);
  });

  test("every word with an underscore in the sources has an entry, or is no code", () => {
    const fields = fieldsOfSources();
    const others = [...wordsOfSources()].filter((word) => !listedCodes.includes(word) && !fields.has(word));
    expect(others.sort()).toEqual(otherWords);
  });

  test("every code that the service gives to a row, an image or a task has an entry", () => {
    const codes = [...rowErrorCodes, ...imageErrorCodes, ...taskFailureCodes];
    expect(codes.filter((code) => !listedCodes.includes(code))).toEqual([]);
  });

  test("every entry of the program is in the sources", () => {
    const [, ...own] = codeGroups;
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith("error-codes.ts"))
      .map((name) => readFileSync(join(root, "src", name), "utf8"))
      .join("\n");
    const words = new Set(
      [...sources.matchAll(/["']([a-zA-Z_]+)["']|^ *(\w+):/gm)].map(([, quoted, name]) => quoted ?? name),
    );
    const unused = own
      .flatMap(({ codes }) => Object.keys(codes))
      .filter((code) => !words.has(code) && !madeCodes.has(code));
    expect(unused).toEqual([]);
  });

  test("no code has two entries", () => {
    expect(listedCodes.filter((code, at) => listedCodes.indexOf(code) !== at)).toEqual([]);
  });

  test("a code in a new error is found", () => {
    expect(
      codesOf(
        'throw new InputError("a", "new_code", "b"); throw new CatError("a", { type: "x", code: is ? "one_code" : "other_code" });',
      ),
    ).toEqual(["new_code", "one_code", "other_code"]);
  });
});

/** Codes that are put together: from those of commander, the reasons of a wrong signature, and the states of a webhook. */
const madeCodes: ReadonlySet<string> = new Set([
  "unknown_option",
  "missing_mandatory_option_value",
  "option_missing_argument",
  "excess_arguments",
  "signature_missing",
  "signature_malformed",
  "signature_mismatch",
  "signature_out_of_tolerance",
  "webhook_paused",
  "webhook_disabled",
  "webhook_narrowed",
]);

/** Words of the sources that are neither codes nor fields: values, tools, names of columns, of the state and of a made-up key. */
const otherWords = [
  ...tools.map(({ name }) => name).filter((name) => name.includes("_")),
  "waiting_for_a_person",
  "ak_none",
  "application_id",
  "edit_number",
  "fail_row",
  "image_back",
  "invalid_signature",
  "node_modules",
  "page_count",
  "page_size",
  "skip_existing",
  "slow_line",
  "user_version",
].sort();

/** Codes of results and of notes. */
const notErrors: ReadonlySet<string> = new Set(["failed", "like_existing"]);

describe("environment variables", () => {
  /** The variables that a source reads or sets: `env.NAME`, `{ NAME = "" } = env`, and strings that look like those of the program. */
  const variablesOf = (text: string): string[] => [
    ...[...text.matchAll(/\benv\??\.([A-Z][A-Z0-9_]+)\b/g)].map((match) => match[1]!),
    ...[...text.matchAll(/\{([^{}]*)\} = (?:\w+\.)*env\b/g)].flatMap((match) =>
      [...match[1]!.matchAll(/\b([A-Z][A-Z0-9_]+)\b/g)].map((name) => name[1]!),
    ),
    ...[...text.matchAll(/"((?:CAT|AWS|GITHUB)_[A-Z0-9_]+|[A-Z]+_PROXY)"/g)].map((match) => match[1]!),
  ];

  test("every variable in the sources has an entry, and every entry is in the sources", () => {
    const sources = ["src", "bin"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:ts|js)$/.test(name) && !name.includes("/page/"))
        .map((name) => readFileSync(join(root, folder, name), "utf8")),
    );
    const used = new Set(sources.flatMap(variablesOf));
    expect([...used].filter((name) => !listedVariables.includes(name))).toEqual([]);
    expect(listedVariables.filter((name) => !used.has(name) && !readByNode.has(name))).toEqual([]);
  });

  test("a new variable is found", () => {
    const text = 'const { A_B = "" } = context.env; env.C_D; const name = "CAT_NEW";';
    expect(variablesOf(text)).toEqual(["C_D", "A_B", "CAT_NEW"]);
  });
});

/** Variables that Node itself reads. */
const readByNode: ReadonlySet<string> = new Set(["NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"]);
