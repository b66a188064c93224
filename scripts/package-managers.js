// @ts-check
// The package managers and the versions of Node that the package is installed with, by their test and their measurement. All
// come from the registry, into a folder of their own.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** The versions of Node, from the lowest that must work on. */
export const nodeVersions = ["20.19", "22", "24", "26"];

/**
 * @typedef {object} Manager
 * @property {string} name as in docs/install.md
 * @property {string} program in the folder of the tools
 * @property {string[]} add installs the packed file into an empty project
 * @property {string[]} [node] runs Node with the packages of the project
 * @property {string} [settings] of yarn 4
 * @property {string} tried the version of Node that it is tried on where not all are
 * @property {string[]} [unsupported] the versions of Node on which the manager says that it does not work
 */

const npm = ["install", "--engine-strict", "--no-audit", "--no-fund", "./package.tgz"];
const pnpm = ["add", "--config.engine-strict=true", "./package.tgz"];
const yarn4 = { program: "@yarnpkg/cli-dist/bin/yarn.js", add: ["add", "./package.tgz"] };

/** @type {readonly Manager[]} */
export const managers = [
  { name: "npm 10", tried: "22", program: "npm10/bin/npm-cli.js", add: npm },
  { name: "npm 11", tried: "20.19", program: "npm11/bin/npm-cli.js", add: npm },
  { name: "npm 12", tried: "26", program: "npm12/bin/npm-cli.js", add: npm, unsupported: ["20.19"] },
  { name: "pnpm 10", tried: "20.19", program: "pnpm10/bin/pnpm.cjs", add: pnpm },
  { name: "pnpm 12", tried: "24", program: "pnpm12/bin/pnpm.mjs", add: pnpm },
  { name: "yarn 1", tried: "20.19", program: "yarn/bin/yarn.js", add: ["add", "./package.tgz"] },
  { ...yarn4, name: "yarn 4, node_modules", tried: "22", settings: "nodeLinker: node-modules\n" },
  { ...yarn4, name: "yarn 4, Plug'n'Play", tried: "20.19", node: ["node"], settings: "nodeLinker: pnp\n" },
];

/** The packages of the registry that have the package managers. */
const tools = {
  ...{ npm10: "npm:npm@10", npm11: "npm:npm@11", npm12: "npm:npm@12" },
  ...{ pnpm10: "npm:pnpm@10", pnpm12: "npm:pnpm@12", yarn: "1", "@yarnpkg/cli-dist": "4" },
};

/**
 * Gets the package managers and versions of Node into an empty folder.
 * @param {string} folder
 * @param {readonly string[]} versions
 */
export async function getTools(folder, versions) {
  const node = `npm:node-${process.platform}-${process.arch}`;
  const nodes = Object.fromEntries(versions.map((one) => [`node-${one}`, `${node}@${one}`]));
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: { ...tools, ...nodes } }));
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await execute("npm", install, { cwd: folder });
}

/**
 * A project that has installed nothing yet, next to the packed file that it will install.
 * @param {string} project an empty folder
 * @param {Manager} manager
 * @param {string} tarball
 * @param {Record<string, string>} [scripts]
 */
export function fillProject(project, { settings }, tarball, scripts = {}) {
  cpSync(tarball, join(project, "package.tgz"));
  const own = { name: "shop", version: "1.0.0", private: true, scripts };
  writeFileSync(join(project, "package.json"), JSON.stringify(own));
  // Its own project, whatever a folder above it is.
  writeFileSync(join(project, "yarn.lock"), "");
  if (settings !== undefined)
    writeFileSync(join(project, ".yarnrc.yml"), `${settings}enableTelemetry: false\n`);
}

/**
 * Runs a version of Node in a project, with a home of its own: caches, settings and state are new.
 * @param {string} folder of the tools
 * @param {string} version
 * @param {string} project
 * @param {string} home
 * @returns {(...args: string[]) => Promise<{ stdout: string, stderr: string }>}
 */
export function nodeOf(folder, version, project, home) {
  const bin = join(folder, "node_modules", `node-${version}`, "bin");
  // The registry, a proxy and certificates stay as they are set.
  const others = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_config_(?:cache|prefix|global_prefix)|yarn_cache_folder|xdg_.*)$/i.test(name),
  );
  // As root, yarn 1 has its cache outside of the home otherwise.
  const own = {
    HOME: home,
    XDG_CACHE_HOME: join(home, ".cache"),
    CAT_HOME: join(home, "catalogue"),
    CI: "1",
  };
  const env = { ...Object.fromEntries(others), ...own };
  return (...args) =>
    execute(join(bin, "node"), args, {
      cwd: project,
      env: { ...env, PATH: `${bin}${delimiter}${process.env.PATH}` },
      timeout: 240_000,
      maxBuffer: 2 ** 26,
    });
}
