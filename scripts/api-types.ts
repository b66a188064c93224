// Writes src/client/api/ and src/mock/api/: the types that users of the package see, from the contract and the schemas of the mock.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiFiles } from "./api-types/api-files.ts";
import { mockFiles } from "./api-types/mock-files.ts";

for (const [part, files] of [
  ["client", apiFiles()],
  ["mock", mockFiles()],
] as const) {
  const folder = join(import.meta.dirname, "..", "src", part, "api");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  execFileSync("npx", ["biome", "check", "--write", folder], { stdio: ["ignore", "ignore", "inherit"] });
}
