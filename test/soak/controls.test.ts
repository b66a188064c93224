import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { controls as ofExports } from "../../soak/export/controls.ts";
import { controls as ofGenerations } from "../../soak/generate/controls.ts";
import { controls as ofImports } from "../../soak/import/controls.ts";
import { controls as ofListeners } from "../../soak/listen/controls.ts";
import type { Patch } from "../../soak/program-files.ts";
import { quickProgram } from "../support/quick-program.ts";

/** Most controls run in `npm run test:long` or by hand only. */
const patches: readonly Patch[] = [ofExports, ofGenerations, ofImports, ofListeners]
  .flatMap((controls): (Patch | readonly Patch[])[] => Object.values(controls))
  .concat(quickProgram)
  .flat();

test.each(patches.map((patch) => [patch.from, patch] as const))(
  "a control can replace %j",
  (_, { file, from }) => {
    expect(readFileSync(file, "utf8")).toContain(from);
  },
);
