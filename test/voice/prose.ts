import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** A text that people read, and where it is. */
export interface Prose {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const isSql = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA)\b/;

/** The paths of the TypeScript files below a folder. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => join(folder, name))
    .sort();
}

/** The strings and templates of a source file that have several words; a value put in reads as `…`. */
export function stringsOf(file: string): Prose[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Prose[] = [];
  const add = (node: ts.Node, text: string) => {
    if (!/[a-z]+ [a-z]+/i.test(text) || isSql.test(text)) return;
    found.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node, node.text);
    if (ts.isTemplateExpression(node)) {
      add(node, node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join(""));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The lines of a Markdown page outside code blocks, without inline code. */
export function proseOf(file: string): Prose[] {
  let isCode = false;
  return readFileSync(file, "utf8")
    .split("\n")
    .map((text, at) => ({ file, line: at + 1, text }))
    .filter(({ text }) => {
      const isFence = text.trimStart().startsWith("```");
      if (isFence) isCode = !isCode;
      return !isFence && !isCode;
    })
    .map((prose) => ({
      ...prose,
      text: prose.text.replaceAll(/`[^`]*`|\[[^\]]*\.\w+\]\([^)]*\)|\]\([^)]*\)/g, "…"),
    }));
}
