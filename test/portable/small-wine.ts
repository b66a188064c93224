import { spawn } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const wine = "/usr/lib/wine/wine64";
const compiler = "/usr/bin/x86_64-w64-mingw32-gcc";

/** Why no program of Windows can run here; empty if one can. */
export const noWine = [wine, compiler]
  .filter((path) => !existsSync(path))
  .map((path) => `${path} is missing`)
  .join(", ");

/** What Windows of wine 8 lacks, as the tests of Windows add it. */
const programs = fileURLToPath(new URL("../windows/programs/", import.meta.url));

/** Windows by wine, in a folder. `drive` is its C:. */
export async function smallWine(folder: string) {
  const drive = join(folder, "prefix/drive_c");
  const env = {
    ...{ WINEPREFIX: join(folder, "prefix"), WINEDEBUG: "-all", WINEDLLOVERRIDES: "mscoree,mshtml=" },
    ...{
      HOME: folder,
      USER: "anna",
      PATH: "/usr/bin:/bin",
      NODE_OPTIONS: String.raw`--require C:\\keep-alive.cjs`,
    },
  };
  const options = { env, extendEnv: false, stdio: "ignore", timeout: 120_000 } as const;
  await execa(wine, ["wineboot", "--init"], options);
  await execa(wine, ["winecfg", "-v", "win81"], options);
  copyFileSync(join(programs, "keep-alive.cjs"), join(drive, "keep-alive.cjs"));
  const library = join(drive, "windows/system32/bcryptprimitives.dll");
  await execa(compiler, [join(programs, "bcryptprimitives.c"), "-shared", "-ladvapi32", "-o", library]);

  mkdirSync(join(drive, "run"));
  /** Writes lines of cmd to `C:\run\NAME`. */
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(drive, "run", name), ["@echo off", ...lines, ""].join("\r\n"));
  /** Runs lines of cmd. Pipes of Unix cannot be read under wine, files can. */
  const run = async (lines: readonly string[]) => {
    write("run.cmd", lines);
    const files = [
      openSync("/dev/null", "r"),
      ...["out", "err"].map((name) => openSync(join(drive, "run", name), "w")),
    ];
    const child = spawn(wine, ["cmd", "/c", String.raw`C:\run\run.cmd`], { env, stdio: files });
    const exitCode = await new Promise<number | null>((resolve) => child.on("exit", resolve));
    for (const file of files) closeSync(file);
    const [stdout, stderr] = ["out", "err"].map((name) =>
      readFileSync(join(drive, "run", name), "utf8")
        .replaceAll("\r\n", "\n")
        .trimEnd(),
    );
    return { exitCode, stdout, stderr };
  };
  const close = () => execa(join(dirname(wine), "wineserver"), ["-k", "-w"], { ...options, reject: false });
  return { drive, write, run, close };
}
