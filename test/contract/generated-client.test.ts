import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { startWorld } from "../mock/world.ts";

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
  errors = compile(["typical-calls.ts", "wrong-calls.ts"].map((name) => join(folder, name)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles with strict settings, writes the JavaScript, and returns the errors. */
function compile(files: string[]): typeof errors {
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
  });
  program.emit();
  return ts.getPreEmitDiagnostics(program).map(({ file, start, code }) => ({
    file: file?.fileName.split("/").at(-1) ?? "",
    line: file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line,
    code,
  }));
}

test("typical calls of a generated client compile", () => {
  expect(errors.filter(({ file }) => file !== "wrong-calls.ts")).toEqual([]);
});

test("each wrong call is a compile error", () => {
  const lines = ts.sys.readFile(join(sources, "wrong-calls.ts"))!.split("\n");
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
