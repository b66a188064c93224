import ts from "typescript";
import { linesOf } from "./sources.ts";

/** What a function of src/ may have at most. */
export const limits = { complexity: 15, lines: 60, parameters: 5 } as const;
export type Measure = keyof typeof limits;

/** A function with its figures. */
export interface MeasuredFunction extends Readonly<Record<Measure, number>> {
  /** The file, then the names from the outermost to the innermost, e.g. `src/a.ts open.close`. */
  readonly name: string;
}

const branches: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.CatchClause,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
]);
const decisions: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

const isBranch = (node: ts.Node): boolean =>
  branches.has(node.kind) || (ts.isBinaryExpression(node) && decisions.has(node.operatorToken.kind));

/** The functions of a file, with those inside others. The branches of an inner function count for that one only. */
export function measureFunctions(source: ts.SourceFile): MeasuredFunction[] {
  const found: MeasuredFunction[] = [];
  const visit = (node: ts.Node, names: readonly string[], within: { complexity: number }): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const inner = [...names, nameOf(node)];
      const figures = { complexity: 1 };
      ts.forEachChild(node, (child) => visit(child, inner, figures));
      const { first, last } = linesOf(node, source);
      found.push({
        name: `${source.fileName} ${inner.join(".")}`,
        lines: last - first + 1,
        parameters: node.parameters.length,
        ...figures,
      });
      return;
    }
    if (isBranch(node)) within.complexity++;
    const isClass = ts.isClassLike(node) && node.name !== undefined;
    const inner = isClass ? [...names, node.name!.text] : names;
    ts.forEachChild(node, (child) => visit(child, inner, within));
  };
  visit(source, [], { complexity: 0 });
  return found;
}

/** The name of a function, or of what it is the value of; that of the function that gets it, in parentheses. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (node.name !== undefined) return node.name.getText();
  let parent = node.parent;
  while (ts.isParenthesizedExpression(parent)) parent = parent.parent;
  if ((ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && parent.name !== undefined)
    return parent.name.getText();
  if (ts.isCallExpression(parent))
    return `(${parent.expression
      .getText()
      .split(/[.(\s]/)
      .at(-1)})`;
  return "()";
}
