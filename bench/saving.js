// Shared by the benches that save files of a service: a folder, the settings, curl, and the memory.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, timed } from "./pairs.js";

/** The most memory that a command may need for any number of rows or files, in MB. */
const memoryGoal = 200;

/** Runs a bench in a temporary folder, with a server that is stopped at its end. */
export async function withServer(start, measure) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  try {
    const server = await start(folder);
    try {
      return await measure(folder, server);
    } finally {
      server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The environment of a command that uses the server, with its state in the folder. */
export const settingsFor = (server, folder) => ({
  ...process.env,
  CAT_HOME: join(folder, "home"),
  CAT_BASE_URL: server.base_url,
  CAT_API_KEY: "ak_mock",
});

/** A function that lets `save` fill a new folder, has `check` look at it, and returns the time that `save` measured. */
export function intoNewFolders(folder, check) {
  let number = 0;
  return async (save) => {
    const target = join(folder, `saved-${number++}`);
    mkdirSync(target);
    const ms = await save(target);
    check(target);
    rmSync(target, { recursive: true });
    // What one of them leaves to write would slow the other down.
    execFileSync("sync");
    return ms;
  };
}

/** The time of `curl --parallel` for URLs into a folder, in milliseconds. */
export async function curlParallel(urls, target) {
  const config = `${target}.curl.txt`;
  const lines = urls.map((url, at) => `url = "${url}"\noutput = "${join(target, `${at}.png`)}"\n`);
  writeFileSync(config, lines.join(""));
  // Its progress goes to stderr whatever it is told.
  const stdio = ["ignore", "pipe", "ignore"];
  return (await timed("curl", ["--parallel", "--config", config], { stdio })).ms;
}

/** The note of a bench about the peaks of its runs, in MB. */
export function memoryNote(peaks, goal = memoryGoal) {
  const peak = Math.round(median(peaks));
  return `peak memory ${peak < goal ? "under" : "NOT under"} ${goal} MB (${peak} MB)`;
}
