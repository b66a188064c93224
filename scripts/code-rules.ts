// `npm run rules`: functions, names, and comments of src/ that break a rule (CONTRIBUTING.md, "Code"), beyond those of
// scripts/code-rules/offenders.json. With --write, the list loses what is fixed.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { glossaryOf } from "./architecture/page.ts";
import { commentProblems } from "./code-rules/comments.ts";
import { exceptions } from "./code-rules/exceptions.ts";
import { findOffenders, ruleTexts } from "./code-rules/find-offenders.ts";
import { compareOffenders, type Offenders, shrunk } from "./code-rules/ratchet.ts";
import { parseSources } from "./code-rules/sources.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const listPath = `${root}scripts/code-rules/offenders.json`;
const sources = parseSources(root);
const now = findOffenders(sources, glossaryOf(readFileSync(`${root}docs/architecture.md`, "utf8")));
const listed = JSON.parse(readFileSync(listPath, "utf8")) as Offenders;
if (process.argv.includes("--write")) {
  writeFileSync(listPath, `${JSON.stringify(shrunk(now, listed, exceptions), null, 2)}\n`);
} else {
  const problems = compareOffenders(now, listed, exceptions);
  for (const problem of problems) console.error(problem);
  for (const source of sources)
    if (problems.some((problem) => problem.startsWith(`comments: ${source.fileName} (`)))
      for (const problem of commentProblems(source)) console.error(`  ${problem}`);
  const rules = new Set(problems.map((problem) => problem.split(":", 1)[0]!));
  for (const rule of rules) console.error(`rule: ${ruleTexts[rule as keyof typeof ruleTexts]}`);
  if (problems.length > 0) process.exitCode = 1;
}
