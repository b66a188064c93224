import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Installed, installPackage } from "./installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The packages of the registry that have the package managers. */
const tools = { npm10: "npm:npm@10", npm11: "npm:npm@11", pnpm: "10", yarn: "1", "@yarnpkg/cli-dist": "4" };

interface Manager {
  readonly name: string;
  /** Its program in the folder of the tools. */
  readonly program: string;
  /** What installs the tarball into an empty project. */
  readonly add: readonly string[];
  /** What runs a script with the packages of the project. */
  readonly node: readonly string[];
  readonly settings?: string;
}

const yarn4 = { program: "@yarnpkg/cli-dist/bin/yarn.js", add: ["add", "./package.tgz"] };
const managers: readonly Manager[] = [
  ...["10", "11"].map((version) => ({
    name: `npm ${version}`,
    program: `npm${version}/bin/npm-cli.js`,
    add: ["install", "--engine-strict", "--no-audit", "--no-fund", "./package.tgz"],
    node: [],
  })),
  {
    name: "pnpm",
    program: "pnpm/bin/pnpm.cjs",
    add: ["add", "--config.engine-strict=true", "./package.tgz"],
    node: [],
  },
  { name: "yarn 1", program: "yarn/bin/yarn.js", add: ["add", "./package.tgz"], node: [] },
  { ...yarn4, name: "yarn 4, node_modules", node: [], settings: "nodeLinker: node-modules\n" },
  { ...yarn4, name: "yarn 4, Plug'n'Play", node: ["node"], settings: "nodeLinker: pnp\n" },
];
const versions = ["20.19", "22", "24", "26"];

/** They take minutes: MANAGERS=npm, or for all of them MANAGERS=all npx vitest run --mode long test/package/managers.test.ts */
const tried = process.env.MANAGERS === "all" ? managers : managers.filter(({ name }) => name === "npm 11");

const noNetwork = /ECONNRE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ERR_SOCKET|socket hang up|\b50[234]\b|network/i;

const photo = { create: { width: 640, height: 640, channels: 3, background: "#345" } } as const;

/** What the smoke script prints: each kind of file that the program writes, and the mock from code. */
const works = [
  ...["mock from code", "state of the mock", "key in a file", "settings", "results and failed file", "undo"],
  ...["workbook", "photo", "models", "products", "saved image", "mirror", "ZIP", "log of events"],
];

// `npm run test:long` only: these install from the registry, afresh and without a lockfile.
describe.runIf(isLong && process.env.MANAGERS !== undefined)("the packed package, installed afresh", () => {
  let installed: Installed;
  let folder: string;
  /** Why nothing can be installed, or what could not be. */
  let unavailable = "";
  beforeAll(async () => {
    installed = await installPackage();
    folder = join(installed.folder, "tools");
    mkdirSync(folder);
    const nodes = Object.fromEntries(versions.map((one) => [`node-${one}`, `npm:${nodePackage}@${one}`]));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: { ...tools, ...nodes } }));
    const got = await execa("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
      ...{ cwd: folder, reject: false },
    });
    if (got.failed) unavailable = `cannot get the package managers from the registry: ${got.stderr}`;
  }, 300_000);
  afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

  const nodePackage = `node-${process.platform}-${process.arch}`;
  const passed = new Set<string>();

  describe.each(tried)("by $name", ({ name, program, add, node, settings }) => {
    test.for(versions)("on Node %s", { timeout: 300_000 }, async (version, { skip }) => {
      skip(unavailable !== "", unavailable);
      const project = temporaryFolder();
      const bin = join(folder, `node_modules/node-${version}/bin`);
      cpSync(join(root, "fixtures"), join(project, "fixtures"), { recursive: true });
      cpSync(join(root, "test/package/smoke.mjs"), join(project, "smoke.mjs"));
      cpSync(installed.tarball, join(project, "package.tgz"));
      writeFileSync(join(project, "photo.png"), await sharp(photo).png().toBuffer());
      writeFileSync(
        join(project, "package.json"),
        '{ "name": "shop", "version": "1.0.0", "private": true }\n',
      );
      writeFileSync(join(project, "yarn.lock"), "");
      if (settings !== undefined)
        writeFileSync(join(project, ".yarnrc.yml"), `${settings}enableTelemetry: false\n`);
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: project, CAT_HOME: join(project, "home") };
      const run = (args: readonly string[]) =>
        execa(join(bin, "node"), args, { cwd: project, env: { ...env, CI: "1" }, timeout: 240_000 });
      const tool = join(folder, "node_modules", program);

      expect((await run(["--version"])).stdout).toMatch(new RegExp(`^v${version}\\.`));
      const added = await run([tool, ...add]).catch((error: Error) => error);
      if (added instanceof Error && noNetwork.test(added.message)) {
        unavailable = `${name} cannot reach the registry: ${added.message}`;
        skip(unavailable);
      }
      if (added instanceof Error) throw added;
      const script = await run(node.length === 0 ? ["smoke.mjs"] : [tool, ...node, "smoke.mjs"]);
      expect(script.stdout.split("\n").sort()).toEqual([...works].sort());
      passed.add(`${name} ${version}`);
    });
  });

  test("docs/install.md has a tick for each of them that works, and for no other", ({ skip }) => {
    skip(unavailable !== "", unavailable);
    const page = readFileSync(join(root, "docs/install.md"), "utf8");
    const rows = [...page.matchAll(/^\| (npm 1\d|pnpm|yarn [^|]*?) +\|(.*)\|$/gm)].map(([, name, cells]) => ({
      name: name!,
      ticks: cells!.split("|").map((cell) => cell.trim()),
    }));
    const expected = tried.map(({ name }) => ({
      name,
      ticks: versions.map((version) => (passed.has(`${name} ${version}`) ? "✓" : "")),
    }));
    expect(rows.filter(({ name }) => tried.some((one) => one.name === name))).toEqual(expected);
  });
});
