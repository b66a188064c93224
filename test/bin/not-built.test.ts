import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A clone whose packages are not installed, and which is not built. */
function freshClone(): string {
  const folder = temporaryFolder();
  for (const path of ["bin", "package.json", "scripts/prepare.js", "scripts/packed-manifest.js"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/index.ts"), "");
  return folder;
}

const run = (folder: string, args: string[], env: Record<string, string> = {}) =>
  execa(process.execPath, args, { cwd: folder, extendEnv: false, env, reject: false });

test.each(["cat", "catalogue"])(
  "bin/%s.js of a clone that is not built says what to run, without a stack",
  async (name) => {
    for (const args of [["import", "a.csv"], ["--version"], ["notes.txt"]]) {
      const { exitCode, stdout, stderr } = await run(freshClone(), [`bin/${name}.js`, ...args]);
      expect([exitCode, stdout, stderr]).toEqual([
        2,
        "",
        "error: this clone is not built\nRun: npm ci --include=dev",
      ]);
    }
  },
);

test.each([
  ["production", ", because NODE_ENV is production"],
  ["test", ""],
])("npm ci without the packages of the build says so, with NODE_ENV=%s", async (NODE_ENV, why) => {
  const { exitCode, stderr } = await run(freshClone(), ["scripts/prepare.js"], { NODE_ENV });
  // An installation must not fail because of the packages that it leaves out.
  expect([exitCode, stderr]).toEqual([
    0,
    `dist/ is not built: the tools for it are not installed${why}\nRun: npm ci --include=dev`,
  ]);
});

test("npm pack and npm publish in such a clone fail, because the package would have no program", async () => {
  const folder = freshClone();
  const { exitCode, stderr } = await run(folder, ["scripts/packed-manifest.js"]);
  expect([exitCode, stderr]).toEqual([
    1,
    "dist/ is not built: the tools for it are not installed\nRun: npm ci --include=dev",
  ]);
  const manifest = (place: string) => readFileSync(join(place, "package.json"), "utf8");
  expect(manifest(folder)).toBe(manifest(root));
});
