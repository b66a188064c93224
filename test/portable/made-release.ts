import { closeSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import manifest from "../../package.json" with { type: "json" };
import { installPackage } from "../package/installed.ts";
import { noNetwork } from "../package/no-network.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The files of a release. */
export interface Release {
  readonly folder: string;
  /** What making it has printed. */
  readonly printed: string;
  close(): void;
}

/**
 * Makes a release of this version as `npm run release -- --dry-run` does, from the packed package. The folder RELEASE, if it is
 * set, has been made before. Resolves to a text if the registry cannot be reached.
 */
export async function makeRelease(): Promise<Release | string> {
  const { RELEASE } = process.env;
  if (RELEASE !== undefined) return { folder: resolve(RELEASE), printed: "", close: () => {} };
  const { folder: work, tarball } = await installPackage();
  const close = () => rmSync(work, { recursive: true, force: true });
  const folder = join(work, "release");
  const args = ["scripts/release.js", "--dry-run", "--package", tarball, "--out", folder];
  const made = await execa(process.execPath, args, { cwd: root, reject: false });
  if (!made.failed) return { folder, printed: made.stdout, close };
  close();
  if (noNetwork.test(made.stderr)) return `cannot reach the registry: ${made.stderr}`;
  throw new Error(made.stderr);
}

/** The archive for a platform, and the only folder in it. */
export const archiveName = (platform: string): string => `catalogue-${manifest.version}-${platform}`;

/** Unpacks the archive for a platform, by tar or Python, and returns its folder. */
export async function unpacked({ folder }: Release, platform: string, to: string): Promise<string> {
  const name = archiveName(platform);
  const path = join(folder, name);
  if (platform.startsWith("windows")) await execa("python3", ["-m", "zipfile", "-e", `${path}.zip`, to]);
  else await execa("tar", ["-xzf", `${path}.tar.gz`, "-C", to]);
  return join(to, name);
}

/** The system and the processor that a program or library is for; null for other files. */
export function machineOf(path: string): string | null {
  const bytes = Buffer.alloc(4096);
  const file = openSync(path, "r");
  readSync(file, bytes);
  closeSync(file);
  if (bytes.readUInt32BE(0) === 0x7f454c46)
    return `linux ${{ 62: "x64", 183: "arm64" }[bytes.readUInt16LE(18)]}`;
  if (bytes.readUInt32LE(0) === 0xfeedfacf)
    return `macos ${{ 16777223: "x64", 16777228: "arm64" }[bytes.readUInt32LE(4)]}`;
  if (bytes.toString("latin1", 0, 2) !== "MZ") return null;
  const at = bytes.readUInt32LE(60);
  return `windows ${{ 34404: "x64", 43620: "arm64" }[bytes.readUInt16LE(at + 4)]}`;
}

/** The lowest macOS that a program or library for macOS is for, and whether it is signed. */
export function macProgram(path: string): { macos: number; isSigned: boolean } {
  const bytes = readFileSync(path);
  const found = { macos: 0, isSigned: false };
  for (let left = bytes.readUInt32LE(16), at = 32; left > 0; left--) {
    const command = bytes.readUInt32LE(at);
    // LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX, LC_CODE_SIGNATURE.
    if (command === 0x32) found.macos = bytes.readUInt32LE(at + 12) >> 16;
    if (command === 0x24) found.macos = bytes.readUInt32LE(at + 8) >> 16;
    if (command === 0x1d) found.isSigned = true;
    at += bytes.readUInt32LE(at + 4);
  }
  return found;
}
