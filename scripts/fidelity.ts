// `npm run fidelity`: writes docs/fidelity.md. Fails if a clause names a missing test or part of the
// contract has no clause.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { problemsOf } from "./fidelity/check.ts";
import { confirmations } from "./fidelity/confirmations.ts";
import { pageOf } from "./fidelity/page.ts";
import { sections } from "./fidelity/sections.ts";

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const problems = problemsOf(sections, (file) => {
  try {
    return readFileSync(at(`test/${file}`), "utf8");
  } catch {
    return null;
  }
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else writeFileSync(at("docs/fidelity.md"), pageOf(sections, confirmations(at("docs/confirmed.json"))));
