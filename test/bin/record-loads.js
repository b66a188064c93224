// @ts-check
// Module hooks for many-commands.js: each run loads dist/ anew, and its loads are written to a file.
import { appendFileSync } from "node:fs";

/** @type {{ dist: string, log: string }} */
let settings;

/** @param {typeof settings} data */
export const initialize = (data) => {
  settings = data;
};

/**
 * Gives a file of dist/ the run of the file that imports it, so that it is another module for each run.
 * @type {import("node:module").ResolveHook}
 */
export async function resolve(specifier, context, next) {
  const run = /[?&]run=(\d+)$/.exec(context.parentURL ?? specifier)?.[1];
  const found = await next(specifier, context);
  if (run === undefined || found.url.startsWith("node:")) return found;
  const isOurs = found.url.startsWith(settings.dist);
  const name = isOurs ? found.url.slice(settings.dist.length).replace(/\?.*/, "") : specifier;
  appendFileSync(settings.log, `${run} ${isOurs ? "file" : "package"} ${name}\n`);
  return isOurs ? { ...found, url: `${found.url.replace(/\?.*/, "")}?run=${run}` } : found;
}
