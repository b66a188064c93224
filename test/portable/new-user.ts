import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeRelease } from "./fake-release.ts";

/** The installer for Linux and macOS. */
export const script = fileURLToPath(new URL("../../install.sh", import.meta.url));

/** A user without anything installed, with a space in the path, and a release 1.0.0 in the folder `from`. */
export function newUser() {
  const folder = temporaryFolder();
  const [home, from] = [join(folder, "home of anna"), join(folder, "release")];
  mkdirSync(home);
  writeRelease(from, "1.0.0");
  const bin = join(home, ".local/bin");
  const lib = join(home, ".local/lib/catalogue");
  const run = async (args: readonly string[], env: Record<string, string | undefined> = {}) => {
    const { exitCode, stdout, stderr } = await execa("sh", [script, ...args], {
      ...{ cwd: folder, reject: false, extendEnv: false },
      env: { HOME: home, PATH: process.env.PATH ?? "", ...env },
    });
    return { exitCode, stdout, stderr };
  };
  /** What `catalogue` prints; null if it is not installed. */
  const installed = async () =>
    existsSync(join(bin, "catalogue")) ? (await execa(join(bin, "catalogue"))).stdout : null;
  return { home, from, bin, lib, run, installed };
}

/** A PATH with what install.sh needs, and these tools. */
export function pathOf(...others: string[]): string {
  const folder = temporaryFolder();
  const tools = [
    "uname",
    "mkdir",
    "mktemp",
    "grep",
    "sed",
    "wc",
    "tar",
    "gzip",
    "readlink",
    "ln",
    "mv",
    "cp",
    "rm",
    "sh",
  ];
  for (const tool of [...tools, ...others])
    symlinkSync(execFileSync("which", [tool], { encoding: "utf8" }).trim(), join(folder, tool));
  return folder;
}
