import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** An expression of the sources. */
export interface Expression {
  /** `src/errors.ts:120`. */
  readonly at: string;
  readonly source: string;
  readonly flags: string;
}

/** An expression that is made when the program runs: its file, and what it is made from. */
export interface MadeExpression {
  readonly at: string;
  /** `src/errors.ts: RegExp(…)`, on one line. */
  readonly key: string;
}

/** All expressions of the program: its literals, and where it makes others. */
export function expressionsIn(folders: readonly string[]): {
  literals: Expression[];
  made: MadeExpression[];
} {
  const literals: Expression[] = [];
  const made: MadeExpression[] = [];
  for (const file of folders.flatMap(sourcesIn)) {
    const parsed = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const at = `${file}:${parsed.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
      if (ts.isRegularExpressionLiteral(node)) literals.push({ at, ...partsOf(node.text) });
      // Also `globalThis.RegExp`, and a function that is given RegExp to call.
      if (ts.isIdentifier(node) && node.text === "RegExp" && !isType(node)) {
        const { parent } = node;
        const text = ts.isNewExpression(parent) || ts.isCallExpression(parent) ? parent : parent.parent;
        made.push({ at, key: `${file}: ${text.getText().replace(/\s+/g, " ").replace(/^new /, "")}` });
      }
      ts.forEachChild(node, visit);
    };
    visit(parsed);
  }
  return { literals, made };
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
    .map((path) => join(folder, path).replaceAll("\\", "/"));

function partsOf(literal: string): { source: string; flags: string } {
  const end = literal.lastIndexOf("/");
  return { source: literal.slice(1, end), flags: literal.slice(end + 1) };
}

const isType = (node: ts.Identifier): boolean => ts.isTypeReferenceNode(node.parent);

/**
 * Whether an expression repeats something without a limit. Without that, the time for each place of a text has a limit too,
 * so that it is linear.
 */
export const isUnlimited = ({ source }: Pick<Expression, "source">): boolean =>
  /[*+]|\{\d*,\}/.test(source.replace(/\\[\s\S]/g, "").replace(/\[[^\]]*\]/g, ""));
