// @ts-check
import { spawnSync } from "node:child_process";

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
