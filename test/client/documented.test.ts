import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { callOptions, clientOptions } from "../../src/client/check-options.ts";
import { operations } from "../../src/contract/client-operations.ts";

const root = resolve(import.meta.dirname, "../..");

const parsed = (path: string) =>
  ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);

type Declaration =
  | ts.InterfaceDeclaration
  | ts.ClassDeclaration
  | ts.TypeAliasDeclaration
  | ts.FunctionDeclaration
  | ts.VariableStatement;

/** The exported declarations of a file by name, except those that it exports from others. */
function declarationsOf(file: ts.SourceFile): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const one of file.statements) {
    const isNamed =
      ts.isInterfaceDeclaration(one) ||
      ts.isClassDeclaration(one) ||
      ts.isTypeAliasDeclaration(one) ||
      ts.isFunctionDeclaration(one);
    if (isNamed && one.name !== undefined) found.set(one.name.text, one);
    if (!ts.isVariableStatement(one)) continue;
    for (const { name } of one.declarationList.declarations) found.set(name.getText(), one);
  }
  return found;
}

/** The declarations that a module exports from others, by name. */
function exportsOf(path: string): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const one of parsed(path).statements) {
    if (!ts.isExportDeclaration(one)) continue;
    const from = (one.moduleSpecifier as ts.StringLiteral).text;
    const declared = declarationsOf(parsed(join(dirname(path), from)));
    if (one.exportClause === undefined)
      for (const [name, declaration] of declared) found.set(name, declaration);
    else if (ts.isNamedExports(one.exportClause)) {
      for (const { name } of one.exportClause.elements) found.set(name.text, declared.get(name.text)!);
    }
  }
  return found;
}

/** The paths of exports and fields without a comment. */
function undocumented(path: string, node: ts.Node): string[] {
  const missing = ts.getJSDocCommentsAndTags(node).length > 0 ? [] : [path];
  const visit = (inner: ts.Node): void => {
    const isField =
      ts.isPropertySignature(inner) ||
      ts.isMethodSignature(inner) ||
      ts.isPropertyDeclaration(inner) ||
      ts.isMethodDeclaration(inner);
    const name = isField ? inner.name.getText() : "";
    const isHidden = name.startsWith("#") || (isField && /\?: never;?$/.test(inner.getText()));
    if (isField && !isHidden) missing.push(...undocumented(`${path}.${name}`, inner));
    else if (!isField && !ts.isBlock(inner) && !ts.isParameter(inner)) ts.forEachChild(inner, visit);
  };
  if (!ts.isFunctionDeclaration(node) && !ts.isVariableStatement(node)) ts.forEachChild(node, visit);
  return missing;
}

test("every export of the package, and every field, method and option in it, has a comment", () => {
  const exported = exportsOf(join(root, "src/index.ts"));
  expect([...exported.keys()]).toEqual(
    expect.arrayContaining([
      "Product",
      "Task",
      "Import",
      "ImportRow",
      "ExportRow",
      "Webhook",
      "EventType",
      "ErrorCode",
      "Clock",
    ]),
  );
  const missing = [...exported].flatMap(([name, declaration]) => undocumented(name, declaration));
  expect(missing).toEqual([]);
});

test("an export and a field without a comment are found", () => {
  const file = ts.createSourceFile(
    "a.ts",
    "export interface A {\n/** B. */\nb: { c: number };\nd(): void }",
    99,
    true,
  );
  expect(undocumented("A", declarationsOf(file).get("A")!)).toEqual(["A", "A.b.c", "A.d"]);
});

test("docs/client.md has every option of createClient", () => {
  const page = readFileSync(join(root, "docs/client.md"), "utf8");
  const { retry, timeLimits, ...others } = clientOptions;
  const names = [others, retry, timeLimits].flatMap((options) => Object.keys(options));
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  expect(names).toContain("rateLimitedMs");
});

test("docs/client.md begins with a list of all operations", () => {
  const page = readFileSync(join(root, "docs/client.md"), "utf8");
  const rows = Object.entries(operations).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(
      ([verb, { method, path, summary }]) =>
        `| \`${resource}.${verb}\` | \`${method} ${path}\` | ${summary} |`,
    ),
  );
  const table = page.slice(page.indexOf("| method of the client |"), page.indexOf("## From rows"));
  expect(table.split("\n").filter((line) => line.startsWith("| `"))).toEqual(rows);
});

test("docs/client.md has every option of a request, a list, a poll and a download", () => {
  const page = readFileSync(join(root, "docs/client.md"), "utf8");
  const names = Object.values(callOptions).flatMap((options) => Object.keys(options));
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
