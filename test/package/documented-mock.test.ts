import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const declarations = fileURLToPath(new URL("../../dist/types/mock/index.d.ts", import.meta.url));

/** The exports of a file and the fields of their types, in the package, that have no comment, by path; and all names. */
function commentsIn(file: string): { names: string[]; missing: string[] } {
  const program = ts.createProgram([file], {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: ["node"] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 },
  });
  const checker = program.getTypeChecker();
  const names: string[] = [];
  const missing: string[] = [];
  const seen = new Set<ts.Symbol>();
  const isOwn = (symbol: ts.Symbol) =>
    symbol.declarations?.some((one) => !one.getSourceFile().fileName.includes("node_modules")) === true;
  const visit = (symbol: ts.Symbol, path: string): void => {
    if (seen.has(symbol) || !isOwn(symbol) || symbol.name.startsWith("__#")) return;
    seen.add(symbol);
    names.push(path);
    if (symbol.getDocumentationComment(checker).length === 0) missing.push(path);
    for (const declaration of symbol.declarations ?? []) fieldsIn(declaration, path);
  };
  /** Visits the fields that are written in a declaration, and those of the types that it names. */
  const fieldsIn = (node: ts.Node, path: string): void => {
    ts.forEachChild(node, (inner) => {
      if (ts.isPropertySignature(inner) || ts.isMethodSignature(inner) || ts.isMethodDeclaration(inner)) {
        const symbol = checker.getSymbolAtLocation(inner.name);
        if (symbol !== undefined) visit(symbol, `${path}.${symbol.name}`);
      } else if (!ts.isParameter(inner)) fieldsIn(inner, path);
    });
  };
  for (const one of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)) {
    visit(one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one, one.name);
  }
  return { names, missing };
}

longTest("every export of /mock, and every field of its options, faults and states, has a comment", () => {
  needsBuild();
  const { names, missing } = commentsIn(declarations);
  expect(names).toEqual(
    expect.arrayContaining([
      ...["startMock", "readState", "MovableClock", "Mock.verify", "MockOptions.seed", "FaultOrder.skip"],
      ...["FaultEffect.signature", "FaultMatch.pattern", "MockState.secret", "StateTask.scene.person.name"],
      "StateProduct.images.orientation",
    ]),
  );
  expect(names.length).toBeGreaterThan(250);
  expect(missing).toEqual([]);
});

longTest(
  "an export and a field without a comment are found, also in a type that another file declares",
  () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "b.d.ts"),
      "/** B. */\nexport interface B {\n/** C. */\nc: { d: number }[];\ne(): void }",
    );
    writeFileSync(
      join(folder, "a.d.ts"),
      'export type { B } from "./b.js";\nexport declare function f(): void;',
    );
    expect(commentsIn(join(folder, "a.d.ts")).missing.sort()).toEqual(["B.c.d", "B.e", "f"]);
  },
);
