import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The archive of a version for this machine, and for no other. */
export const archiveOf = (version: string): string => `catalogue-${version}-linux-x64.tar.gz`;

/**
 * Writes a release into a folder: an archive as install.sh expects it, with programs of one line, and its sum. `launcher` is
 * that line.
 */
export function writeRelease(folder: string, version: string, launcher = `echo catalogue ${version}`): void {
  const name = `catalogue-${version}-linux-x64`;
  const content = join(folder, name);
  mkdirSync(join(content, "man/man1"), { recursive: true });
  for (const program of ["catalogue", "cat"])
    writeFileSync(join(content, program), `#!/bin/sh\n${launcher}\n`, { mode: 0o755 });
  for (const page of ["catalogue.1", `cat-of-${version}.1`])
    writeFileSync(join(content, "man/man1", page), page);
  execFileSync("tar", ["-czf", archiveOf(version), name], { cwd: folder });
  rmSync(content, { recursive: true });
  writeSums(folder, version);
}

/** Writes SHA256SUMS with the archives of these versions. */
export function writeSums(folder: string, ...versions: string[]): void {
  const lines = versions.map((version) => {
    const bytes = readFileSync(join(folder, archiveOf(version)));
    return `${createHash("sha256").update(bytes).digest("hex")}  ${archiveOf(version)}\n`;
  });
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}
