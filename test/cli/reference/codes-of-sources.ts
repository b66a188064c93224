import ts from "typescript";
import { folders, readSources } from "./words-of-sources.ts";

/** The codes that the sources give to errors and to problems of rows, each with a file that has it. */
export function codesOfSources(): Map<string, string> {
  const found = new Map<string, string>();
  for (const [file, text] of readSources(folders)) {
    // Parsing the others would take most of the time.
    if (!/\bcode:|\bnew \w+Error\(/.test(text)) continue;
    for (const code of codesOf(text)) found.set(code, file);
  }
  return found;
}

/**
 * The codes in a source: `code: "…"` in an object, the second argument of an error with a constructor of its own, and what a
 * function that makes errors is given.
 */
export function codesOf(text: string): string[] {
  const source = ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest);
  const codes: string[] = [];
  const take = (node: ts.Node | undefined): void => {
    if (node === undefined) return;
    if (ts.isStringLiteral(node) && /^[a-z]+(?:_[a-z]+)*$/.test(node.text)) codes.push(node.text);
    if (ts.isConditionalExpression(node)) {
      take(node.whenTrue);
      take(node.whenFalse);
    }
    if (ts.isBinaryExpression(node)) take(node.right);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText(source) === "code") take(node.initializer);
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText(source))) take(node.arguments?.[1]);
    if (ts.isCallExpression(node) && /(?:problem|error|badResponse)$/i.test(node.expression.getText(source)))
      for (const argument of node.arguments)
        if (ts.isStringLiteral(argument) && argument.text.includes("_")) take(argument);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return codes;
}
