import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { controls as ofBuckets } from "../../soak/bucket/controls.ts";
import { controls as ofExports } from "../../soak/export/controls.ts";
import { controls as ofGenerations } from "../../soak/generate/controls.ts";
import { controls as ofImports } from "../../soak/import/controls.ts";
import { controls as ofListeners } from "../../soak/listen/controls.ts";
import type { Patch } from "../../soak/program-files.ts";
import { controls as ofYears } from "../../soak/year/controls.ts";
import { longTest } from "../support/long-test.ts";
import { quickProgram } from "../support/quick-program.ts";

/** Most controls run in `npm run test:long` or by hand only. */
const controls = [ofBuckets, ofExports, ofGenerations, ofImports, ofListeners, ofYears]
  .flatMap((all): [string, Patch | readonly Patch[]][] => Object.entries(all))
  .map(([name, patches]) => [name, [patches].flat()] as const)
  .concat([["quick program", [...quickProgram]]]);
const patches: readonly Patch[] = controls.flatMap(([, patches]) => patches);

test.each(patches.map((patch) => [patch.from, patch] as const))(
  "a control can replace %j",
  (_, { file, from }) => {
    expect(readFileSync(file, "utf8")).toContain(from);
  },
);

/** Names of a module that it neither declares nor imports. */
function unknownNames(file: string, text: string): string[] {
  const host = ts.createCompilerHost({});
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, text, target, true) : undefined;
  const program = ts.createProgram([file], { noResolve: true, noLib: true, types: [] }, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "))
    .flatMap((message) => /^Cannot find name '(\w+)'/.exec(message)?.[1] ?? [])
    .filter((name) => !(name in globalThis));
}

const unknownBefore = new Map<string, string[]>();

// Otherwise the program crashes where the fault of the control should show.
longTest.each(controls)("the changes of the control %s use names that exist", (_, own) => {
  for (const file of new Set(own.map((patch) => patch.file))) {
    const before = readFileSync(file, "utf8");
    const after = own
      .filter((patch) => patch.file === file)
      .reduce((text, { from, to }) => text.replace(from, () => to), before);
    // What is unknown in the file as it is was found for another control.
    const known = unknownBefore.get(file) ?? unknownNames(file, before);
    unknownBefore.set(file, known);
    expect(unknownNames(file, after)).toEqual(known);
  }
});
