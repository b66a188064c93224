// Writes src/client/api/: the types that users of the package see, from the contract.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiFiles } from "./api-types/api-files.ts";

const folder = join(import.meta.dirname, "..", "src", "client", "api");
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(apiFiles())) writeFileSync(join(folder, name), text);
execFileSync("npx", ["biome", "check", "--write", folder], { stdio: ["ignore", "ignore", "inherit"] });
