import type ts from "typescript";
import type { Word } from "../architecture/page.ts";
import { commentProblems } from "./comments.ts";
import { limits, type Measure, measureFunctions } from "./functions.ts";
import { generalWords } from "./general-words.ts";
import { exportedNames, sharedNames } from "./names.ts";
import type { Figures, Offenders } from "./ratchet.ts";
import { unknownTypes } from "./words.ts";

type Rule = Measure | "sharedNames" | "typeWords" | "comments";

/** What each rule is about, for messages. */
export const ruleTexts: Readonly<Record<Rule, string>> = {
  complexity: `a function has a complexity of ${limits.complexity} at most`,
  lines: `a function has ${limits.lines} lines at most`,
  parameters: `a function has ${limits.parameters} parameters at most`,
  sharedNames: "a name that src/ exports is that of one file",
  typeWords: "the last word of a type is in the glossary of docs/architecture.md",
  comments: 'a comment has 110 columns at most, and does not begin with "What of"',
};

/** What breaks a rule in these sources. */
export function findOffenders(sources: readonly ts.SourceFile[], glossary: readonly Word[]): Offenders<Rule> {
  const functions = sources.flatMap(measureFunctions);
  const names = sources.flatMap(exportedNames);
  const above = (measure: Measure) =>
    highest(functions.map((one) => [one.name, one[measure]] as const).filter(([, n]) => n > limits[measure]));
  return {
    complexity: above("complexity"),
    lines: above("lines"),
    parameters: above("parameters"),
    sharedNames: Object.fromEntries([...sharedNames(names)].map(([name, { length }]) => [name, length])),
    typeWords: Object.fromEntries(unknownTypes(names, glossary, generalWords).map((name) => [name, 1])),
    comments: Object.fromEntries(
      sources
        .map((source) => [source.fileName, commentProblems(source).length] as const)
        .filter(([, count]) => count > 0),
    ),
  };
}

/** Two functions of a file may have one name: the higher figure counts. */
function highest(figures: readonly (readonly [name: string, figure: number])[]): Figures {
  const found: Record<string, number> = {};
  for (const [name, figure] of figures) found[name] = Math.max(found[name] ?? 0, figure);
  return found;
}
