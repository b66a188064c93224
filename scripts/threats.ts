// `npm run threats`: writes docs/threats.md. Fails if a threat names a missing test.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { threatsPage, threatsProblems } from "./threats/page.ts";
import { areas } from "./threats/threats.ts";

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const problems = threatsProblems(areas, (file) =>
  existsSync(at(`test/${file}`)) ? readFileSync(at(`test/${file}`), "utf8") : null,
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else writeFileSync(at("docs/threats.md"), threatsPage(areas));
