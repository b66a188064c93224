import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const script = fileURLToPath(new URL("../../scripts/packed-manifest.js", import.meta.url));

longTest(
  "npm pack leaves package.json as it was, also after an earlier one that was killed, or a failed build",
  async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "scripts"));
    cpSync(script, join(folder, "scripts/packed-manifest.js"));
    const path = join(folder, "package.json");
    const text = '{"name": "shop", "scripts": {}, "devDependencies": {},\n"overrides": {}, "type": "module"}';
    writeFileSync(path, text);
    const run = async (...args: string[]) => {
      const options = { cwd: folder, reject: false } as const;
      const { exitCode } = await execa(process.execPath, ["scripts/packed-manifest.js", ...args], options);
      return [exitCode, readFileSync(path, "utf8")];
    };
    const build = (exit: number) =>
      writeFileSync(
        join(folder, "scripts/prepare.js"),
        `process.exit(process.argv[2] === "--required" ? ${exit} : 9);`,
      );
    build(0);
    const packed = `${JSON.stringify({ name: "shop", type: "module", sideEffects: false }, null, 2)}\n`;
    // The second one finds what the first has left.
    for (let count = 0; count < 2; count++) expect(await run()).toEqual([0, packed]);
    expect(await run("--restore")).toEqual([0, text]);
    build(1);
    expect(await run()).toEqual([1, text]);
    expect(readdirSync(folder).sort()).toEqual(["package.json", "scripts"]);
  },
);
