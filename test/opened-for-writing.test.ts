// Only src/open-file.ts opens files for writing: it never follows a link, and its temporary names are random.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** Files that write in another way, and why that is safe. */
const exceptions: Readonly<Record<string, readonly [names: readonly string[], reason: string]>> = {
  "src/cli/kept-code.ts": [
    ["openSync", "writeFileSync"],
    "runs before any module is loaded, and keeps code in a folder that it checks itself",
  ],
  "src/flows/files/disk.ts": [["mkdtempSync"], "makes a folder with a random name, for this user alone"],
  "src/mock/routes/signed-files.ts": [["toFile"], "is a method of the mock, which keeps files in memory"],
  "src/state/sqlite.ts": [
    ["libsql"],
    "SQLite opens its files without following links; state-place.ts and mirror-folders.ts check the others",
  ],
};

/** The place of the rule. */
const home = "src/open-file.ts";

/** Functions that create files, or open them for writing, whatever their arguments. */
const writers =
  /^(?:createWriteStream|(?:writeFile|appendFile|copyFile|cp|symlink|truncate|mkdtemp)(?:Sync)?|toFile|writeReport|writeHeapSnapshot)$/;
const fileModules = /^(?:node:)?fs(?:\/promises)?$/;
const readFlags = new Set(["constants", "O_RDONLY", "O_NONBLOCK", "O_NOFOLLOW"]);

/** What a file uses to write to other files. */
function writingIn(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  /** Local names of `open` and `openSync`. */
  const openers = new Set<string>();
  const walk = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && node.text === "libsql" && !isOfType(node)) found.add("libsql");
    // The functions of a whole module cannot be followed.
    if (ts.isImportClause(node) && !node.isTypeOnly && fileModules.test(textOf(node.parent.moduleSpecifier)))
      if (node.name !== undefined || (node.namedBindings && ts.isNamespaceImport(node.namedBindings)))
        found.add("node:fs");
    if (ts.isCallExpression(node) && isFileModule(node) && !isTakenApart(node)) found.add("node:fs");
    if (ts.isImportSpecifier(node) && fileModules.test(moduleOf(node))) {
      const imported = (node.propertyName ?? node.name).text;
      if (imported === "promises" || imported === "default") found.add("node:fs");
      if (/^open(?:Sync)?$/.test(imported)) openers.add(node.name.text);
      else if (writers.test(imported)) found.add(imported);
    }
    if (ts.isBindingElement(node)) {
      const key = (node.propertyName ?? node.name).getText();
      if (key === "promises") found.add("node:fs");
      if (key === "openSync" || (key === "open" && isOfFileModule(node))) openers.add(node.name.getText());
      else if (writers.test(key) && key !== "truncate") found.add(key);
    }
    const promisified = ts.isVariableDeclaration(node) ? promisifiedIn(node) : null;
    if (promisified !== null && openers.has(promisified))
      openers.add((node as ts.VariableDeclaration).name.getText());
    if (ts.isPropertyAccessExpression(node) && (writers.test(node.name.text) || isForeignOpen(node)))
      found.add(node.name.text);
    if (ts.isIdentifier(node) && openers.has(node.text) && !isReading(node)) found.add(node.text);
    ts.forEachChild(node, walk);
  };
  walk(file);
  return [...found].sort();
}

const textOf = (node: ts.Expression): string => (ts.isStringLiteralLike(node) ? node.text : "");

/** Whether a call returns a module of files: `import(…)`, `require(…)` and its kin, `getBuiltinModule(…)`. */
const isFileModule = ({ arguments: [first] }: ts.CallExpression): boolean =>
  first !== undefined && fileModules.test(textOf(first));

/** The expression around a call, without `await` and parentheses. */
function around(node: ts.Node): ts.Node {
  const { parent } = node;
  return ts.isAwaitExpression(parent) || ts.isParenthesizedExpression(parent) ? around(parent) : parent;
}

/** Whether only named functions of a module are used: `const { readFile } = …`, or `….readFile`. */
function isTakenApart(node: ts.CallExpression): boolean {
  const user = around(node);
  if (ts.isPropertyAccessExpression(user)) return user.name.text !== "promises";
  return ts.isVariableDeclaration(user) && ts.isObjectBindingPattern(user.name);
}

/** Whether a name is taken from a module of files that a call returns. */
function isOfFileModule({ parent }: ts.BindingElement): boolean {
  const { initializer } = parent.parent as ts.VariableDeclaration;
  const call = initializer && ts.isAwaitExpression(initializer) ? initializer.expression : initializer;
  return call !== undefined && ts.isCallExpression(call) && isFileModule(call);
}

const isOfType = (node: ts.Node): boolean =>
  ts.isImportDeclaration(node.parent) && node.parent.importClause?.isTypeOnly === true;

const moduleOf = (node: ts.ImportSpecifier): string =>
  (node.parent.parent.parent.moduleSpecifier as ts.StringLiteral).text;

/** `open` in `const openFile = promisify(open)`. */
function promisifiedIn({ initializer }: ts.VariableDeclaration): string | null {
  const isPromisified =
    initializer !== undefined &&
    ts.isCallExpression(initializer) &&
    initializer.expression.getText() === "promisify";
  return isPromisified ? (initializer.arguments[0]?.getText() ?? null) : null;
}

/** `fs.open(…)`, `promises.open(…)`, `fs.openSync(…)` that does not read. */
function isForeignOpen(node: ts.PropertyAccessExpression): boolean {
  const isOfFiles = /(?:^|\.)(?:fs|promises|fsPromises|node:fs)\b/.test(node.expression.getText());
  return (node.name.text === "openSync" || (node.name.text === "open" && isOfFiles)) && !isReading(node);
}

/** Whether a mention of `open` is its import, or a call of it that can only read. */
function isReading(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isImportSpecifier(parent)) return true;
  // Another thing of that name.
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return true;
  if (
    ts.isBindingElement(parent) ||
    (ts.isVariableDeclaration(parent) && parent.name === node) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isMethodSignature(parent)
  )
    return true;
  if (!ts.isCallExpression(parent)) return false;
  if (parent.expression === node) return hasReadFlags(parent);
  if (parent.expression.getText() !== "promisify") return false;
  // Uses of the variable are looked at.
  if (ts.isVariableDeclaration(parent.parent)) return true;
  return ts.isCallExpression(parent.parent) && hasReadFlags(parent.parent);
}

function hasReadFlags({ arguments: [, flags] }: ts.CallExpression): boolean {
  if (flags === undefined) return true;
  if (ts.isStringLiteral(flags)) return flags.text === "r";
  const names = flags.getText().match(/[A-Za-z_]\w*/g) ?? ["?"];
  return names.every((name) => readFlags.has(name));
}

/** The programs of the browser write no files of this machine. */
const ofBrowser = /\/page\/(?:app\/)?[^/]+\.(?:tsx|js)$/;

const sources = ["src", "bin"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => /\.(?:tsx?|js|cjs|mjs)$/.test(name) && !ofBrowser.test(name)),
);

test("only src/open-file.ts opens files for writing, but for the exceptions", () => {
  const found = sources
    .filter((name) => name !== home)
    .map((name) => [name, readFileSync(name, "utf8")] as const)
    // Others cannot write; parsing them takes time.
    .filter(([, source]) => /\bfs\b|libsql|toFile|writeReport|writeHeapSnapshot/.test(source))
    .map(([name, source]) => [name, writingIn(name, source)] as const)
    .filter(([, names]) => names.length > 0);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(exceptions).map(([name, [names]]) => [name, names])),
  );
});

test.each([
  ['import { open } from "node:fs/promises"; await open(path, "w");', ["open"]],
  ['import { open } from "node:fs/promises"; await open(path, flags);', ["open"]],
  ['import { open as begin } from "node:fs"; promisify(begin)(path, constants.O_RDWR);', ["begin"]],
  ['import { open } from "node:fs"; const openFile = promisify(open); openFile(path, "w");', ["openFile"]],
  ['import { openSync } from "fs"; openSync(path, O_WRONLY | O_CREAT);', ["openSync"]],
  ['import { openSync } from "fs"; openSync(path, "a+");', ["openSync"]],
  ['import { writeFile } from "node:fs/promises";', ["writeFile"]],
  ['import { createWriteStream as to } from "node:fs";', ["createWriteStream"]],
  ['import fs from "node:fs"; fs.promises.open(path, "wx");', ["node:fs", "open"]],
  ['import * as fs from "node:fs"; fs.cpSync(a, b);', ["cpSync", "node:fs"]],
  ['import * as promised from "node:fs/promises"; promised.open(path, "w");', ["node:fs"]],
  ['import * as disk from "node:fs"; disk["writeFileSync"](path, "x");', ["node:fs"]],
  ['import { promises as files } from "node:fs"; files.open(path, "w");', ["node:fs"]],
  ['const { open } = await import("node:fs/promises"); open(path, "w");', ["open"]],
  ['const { open } = process.getBuiltinModule("node:fs/promises"); open(path, "w");', ["open"]],
  ['const files = await import("node:fs/promises"); files.open(path, "w");', ["node:fs"]],
  ['process.getBuiltinModule("node:fs").promises.open(path, "w");', ["node:fs", "open"]],
  ['import { openSync } from "node:fs"; const begin = openSync; begin(path, "w");', ["openSync"]],
  ['const { appendFileSync } = process.getBuiltinModule("node:fs");', ["appendFileSync"]],
  ['import { promises } from "node:fs"; promises.copyFile(a, b);', ["copyFile", "node:fs"]],
  ["await sharp(image).toFile(path);", ["toFile"]],
  ['const { default: Libsql } = await import("libsql");', ["libsql"]],
])("the test finds %j", (source, names) => {
  expect(writingIn("a.ts", source)).toEqual(names);
});

test.each([
  'import { open } from "node:fs/promises"; await open(path);',
  'import { open } from "node:fs/promises"; await open(path, "r");',
  'import { open } from "node:fs"; promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);',
  "dialog.open(path, 'w');",
  'import type Database from "libsql";',
])("the test passes over %j", (source) => {
  expect(writingIn("a.ts", source)).toEqual([]);
});
