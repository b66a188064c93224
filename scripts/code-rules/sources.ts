import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** The source files below src/, parsed. Generated types are not among them. */
export function parseSources(root: string): ts.SourceFile[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("src/client/api/"))
    .sort()
    .map((name) => parseSource(name, readFileSync(join(root, name), "utf8")));
}

export const parseSource = (name: string, text: string): ts.SourceFile =>
  ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);

/** The lines of a node from its first word, without the comment above it. */
export function linesOf(
  node: ts.Node,
  source: ts.SourceFile,
): { readonly first: number; readonly last: number } {
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  return { first: lineAt(node.getStart(source)), last: lineAt(node.getEnd()) };
}
