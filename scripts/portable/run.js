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
 * @param {string} [name] of the program, in messages
 */
export function run(program, args, cwd, name = `${program} ${args[0]}`) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} failed: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
  return stdout;
}

/**
 * Runs npm: the one that runs this script, or the one on PATH. It prints its errors alone.
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export function runNpm(args, cwd) {
  const { npm_execpath: npm } = process.env;
  // Others, such as pnpm, set the variable too.
  const isNpm = npm?.endsWith("npm-cli.js") === true;
  const [program, ...first] = isNpm ? [process.execPath, npm] : ["npm"];
  return run(program, [...first, ...args, "--loglevel=error"], cwd, `npm ${args[0]}`);
}
