// @ts-check
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

/** Throws in a clone without the packages that make archives, which `npm ci` installs. */
export function needPackages() {
  try {
    createRequire(import.meta.url).resolve("yazl");
  } catch {
    throw new Error("the packages of this clone are not installed\nRun: npm ci --include=dev");
  }
}

/**
 * Runs a program, and returns what it prints. Throws its messages if it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export function run(program, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${program} ${args[0]} failed: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
  return stdout;
}

/**
 * Runs npm: the one that runs this script, or the one on PATH.
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export function runNpm(args, cwd) {
  const { npm_execpath: npm } = process.env;
  // Others, such as pnpm, set the variable too.
  const isNpm = npm?.endsWith("npm-cli.js") === true;
  return isNpm ? run(process.execPath, [npm, ...args], cwd) : run("npm", args, cwd);
}
