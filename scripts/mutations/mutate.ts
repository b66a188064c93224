import ts from "typescript";

export interface Mutation {
  readonly file: string;
  readonly line: number;
  /** The place of the code that is replaced. */
  readonly from: number;
  readonly to: number;
  readonly before: string;
  readonly after: string;
}

const operators: { readonly [operator: string]: readonly string[] } = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};

const methods: { readonly [name: string]: string } = { some: "every", every: "some", min: "max", max: "min" };

/** Operands of `+` that are texts: `-` would only make NaN of them. */
const isText = (node: ts.Node): boolean => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** Code that has no effect when the program runs, or only moves the place of a mistake. */
const isOutside = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node);

/** The texts that could replace a node. */
function replacements(node: ts.Node): readonly string[] {
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text);
    return [String(value + 1), value === 0 ? "-1" : String(value - 1), ...(value > 1 ? ["0"] : [])];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ["false"];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ["true"];
  if (isText(node) && !isName(node)) return [node.getText().length > 2 ? '""' : '"mutated"'];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return ["[]"];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [node.operand.getText()];
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node) || ts.isContinueStatement(node))
    return ["{}"];
  return [];
}

/** Texts that name a property or module. */
const isName = ({ parent }: ts.Node): boolean =>
  ts.isPropertyAssignment(parent) ? false : ts.isCallExpression(parent) && isImport(parent);

const isImport = (call: ts.CallExpression): boolean => call.expression.kind === ts.SyntaxKind.ImportKeyword;

/** The part of a node that decides, and the texts that could replace it. */
function partReplacements(node: ts.Node): readonly (readonly [ts.Node, readonly string[]])[] {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken;
    const isJoined = operator.getText() === "+" && (isText(node.left) || isText(node.right));
    return [[operator, isJoined ? [] : (operators[operator.getText()] ?? [])]];
  }
  if (ts.isIfStatement(node)) return [[node.expression, ["true", "false"]]];
  if (ts.isConditionalExpression(node)) return [[node.condition, ["true", "false"]]];
  if (ts.isWhileStatement(node)) return [[node.expression, ["false"]]];
  if (ts.isForStatement(node) && node.condition !== undefined) return [[node.condition, ["false"]]];
  if (ts.isReturnStatement(node) && node.expression !== undefined) return [[node.expression, ["undefined"]]];
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return [[node.body, ["undefined"]]];
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name } = node.expression;
    return [[name, methods[name.text] === undefined ? [] : [methods[name.text]!]]];
  }
  return [];
}

/** All mutations of a file, in the order of the code. */
export function mutationsOf(file: string, text: string): Mutation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const add = (node: ts.Node, texts: readonly string[]) => {
    const [from, to] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(from).line + 1;
    for (const after of texts)
      if (after !== text.slice(from, to))
        found.push({ file, line, from, to, before: text.slice(from, to), after });
  };
  const visit = (node: ts.Node): void => {
    if (isOutside(node)) return;
    add(node, replacements(node));
    for (const [part, texts] of partReplacements(node)) add(part, texts);
    ts.forEachChild(node, (child) => {
      const isKey = ts.isPropertyAssignment(node) && child === node.name;
      if (!isKey) visit(child);
    });
  };
  visit(source);
  return found;
}

export const mutated = (text: string, { from, to, after }: Mutation): string =>
  `${text.slice(0, from)}${after}${text.slice(to)}`;

type Body = { readonly start: number; readonly end: number; readonly isBlock: boolean };

/** The bodies of the functions of a file, outer ones before inner ones. */
export function functionsOf(file: string, text: string): Body[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Body[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const body = node.body as ts.Node;
      found.push({ start: body.getStart(source), end: body.getEnd(), isBlock: ts.isBlock(body) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The file with a note of each function that is called, as its path and the place of its body. */
export function withHits(file: string, text: string): string {
  const inserts = functionsOf(file, text).flatMap(({ start, end, isBlock }) => {
    const note = `globalThis.mutationHits?.add("${file}:${start}")`;
    return isBlock
      ? [{ at: start + 1, code: `${note};` }]
      : [
          { at: start, code: `(${note}, ` },
          { at: end, code: ")" },
        ];
  });
  inserts.sort((one, other) => other.at - one.at);
  return inserts.reduce((all, { at, code }) => all.slice(0, at) + code + all.slice(at), text);
}
