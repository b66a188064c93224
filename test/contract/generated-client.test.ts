import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { startWorld } from "../mock/world.ts";

const compiler = resolve(import.meta.dirname, "../../node_modules/typescript-7/bin/tsc");
const sources = resolve(import.meta.dirname, "generated-client");

// Below node_modules, so that the compiled client finds openapi-fetch.
const cache = resolve(import.meta.dirname, "../../node_modules/.cache");
let folder: string;
let errors: { file: string; line: number; code: number }[];

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "generated-client-"));
  cpSync(sources, folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const document = openApiDocument({ serverUrl: "http://127.0.0.1:4010" });
  const api = astToString(await openapiTS(document as unknown as OpenAPI3));
  writeFileSync(join(folder, "api.ts"), api);
  errors = await compile(["typical-calls.ts", "wrong-calls.ts"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles with strict settings, writes the JavaScript, and returns the errors. */
async function compile(files: string[]): Promise<typeof errors> {
  const compilerOptions = {
    target: "es2023",
    lib: ["es2023", "dom"],
    module: "nodenext",
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
  };
  const config = join(folder, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const { stdout } = await execa(process.execPath, [compiler, "--singleThreaded", "-p", config], {
    reject: false,
  });
  return [...stdout.matchAll(/([\w-]+\.ts)\((\d+),\d+\): error TS(\d+)/g)].map(([, file, line, code]) => ({
    file: file!,
    line: Number(line) - 1,
    code: Number(code),
  }));
}

test("typical calls of a generated client compile", () => {
  expect(errors.filter(({ file }) => file !== "wrong-calls.ts")).toEqual([]);
});

test("each wrong call is a compile error", () => {
  const lines = readFileSync(join(sources, "wrong-calls.ts"), "utf8").split("\n");
  const wrong = lines.flatMap((text, line) => (text.startsWith("client.") ? [line] : []));
  expect(wrong).toHaveLength(11);
  const found = errors.filter(({ file }) => file === "wrong-calls.ts").map(({ line }) => line);
  expect([...new Set(found)]).toEqual(wrong);
});

test("typical calls of a generated client work", async () => {
  const { mock } = await startWorld({ demo: 3 });
  const { naturalCalls } = await import(pathToFileURL(join(folder, "typical-calls.js")).href);
  expect(await naturalCalls(mock.baseUrl, mock.apiKey)).toEqual({
    products: [200, true, "string"],
    product: [200, true],
    patch: [200, "kid"],
    // The mock applies the defaults; the requests have no mode and no format.
    import: [202, "upsert", "skip"],
    ndjson: [202, "create"],
    rows: [200, [1, 2]],
    export: [202, "manifest", "completed"],
    beautify: [202, "beautifier", "clothing"],
    models: [200, true],
    tryon: [202, ["queued"]],
    webhook: [201, true],
    missing: [404, "task_not_found"],
  });
});
