// `npm run reference`: writes docs/reference/, man/ and skills/ from the commands, and lists the man pages in package.json.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { manPagesOf } from "./reference/man.ts";
import { pagesOf } from "./reference/pages.ts";
import { describedCommands, skill } from "./reference/source.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const list = await describedCommands();
const manPages = manPagesOf(list);
for (const folder of ["docs/reference", "man", "skills"])
  rmSync(join(root, folder), { recursive: true, force: true });
for (const { path, text } of [...pagesOf(list), ...manPages, await skill()]) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const manifestPath = join(root, "package.json");
const manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
manifest.man = manPages.map(({ path }) => path);
writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);
