import ts from "typescript";

/** A name that a file exports. */
export interface ExportedName {
  readonly name: string;
  readonly file: string;
  /** Whether it is an interface, a class or another type. */
  readonly isType: boolean;
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);

function namesIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesIn(element.name) : []));
}

/** The names that a file declares and exports, each once: a constant and its type may share one. */
export function exportedNames(source: ts.SourceFile): ExportedName[] {
  const found = new Map<string, ExportedName>();
  for (const statement of source.statements) {
    if (!isExported(statement)) continue;
    const isType =
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement);
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.flatMap(({ name }) => namesIn(name))
      : "name" in statement && statement.name !== undefined
        ? [(statement.name as ts.Identifier).text]
        : [];
    for (const name of names) found.set(name, { name, file: source.fileName, isType });
  }
  return [...found.values()];
}

/** Modules whose names are their own: the words of the service, and two programs apart. */
const apart = /^src\/(?:contract|client\/api|mock|mock-page)\/|\/gallery\/page\//;

/** Names that several files export, outside the modules that stand apart: `name: src/a.ts, src/b.ts`. */
export function sharedNames(names: readonly ExportedName[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { name, file } of names)
    if (!apart.test(file)) files.set(name, [...(files.get(name) ?? []), file]);
  return new Map([...files].filter(([, { length }]) => length > 1));
}

const prepositions: ReadonlySet<string> = new Set(["above", "by", "in", "nearby", "of", "to", "within"]);

/** The word that says what a thing is, in lower case: `KnownProduct` is a product, `PlanToApply` a plan. */
export function headWord(name: string): string {
  const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const end = words.findIndex((word, at) => at > 0 && prepositions.has(word));
  return words.at(end === -1 ? -1 : end - 1)!;
}
