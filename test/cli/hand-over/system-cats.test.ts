import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Lead, systemCats } from "../../../src/cli/context/system-cats.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The first cat on a PATH of one folder, if starting it has the effect `lead`. */
async function first(folder: string, lead: Lead) {
  const host = { env: { PATH: folder }, platform: process.platform, cwd: () => folder };
  for await (const cat of systemCats(host, async () => lead)) return cat;
  return null;
}

test.each<[place: string, lead: Lead, mayCallBack: boolean]>([
  ["the usual folder", "nowhere", false],
  ["the usual folder", "anywhere", true],
  ["another folder", "nowhere", true],
  ["another folder", "anywhere", true],
])("a cat in %s that leads %s may start this program again: %s", async (place, lead, mayCallBack) => {
  const own = temporaryFolder();
  writeFileSync(join(own, "cat"), "");
  chmodSync(join(own, "cat"), 0o755);
  const folder = place === "the usual folder" ? "/bin" : own;
  expect(await first(folder, lead)).toMatchObject({ path: join(folder, "cat"), mayCallBack });
});
