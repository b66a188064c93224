// `npm run architecture`: draws docs/pictures/modules.svg from the imports of src/.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importsOfSources } from "./architecture/imports.ts";
import { drawModules } from "./architecture/picture.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
writeFileSync(`${root}docs/pictures/modules.svg`, drawModules(importsOfSources(root)));
