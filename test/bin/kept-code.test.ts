import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { execa } from "execa";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cacheFolder } from "../../src/cli/kept-code.ts";
import { programLoader } from "../../src/cli/program-loader.ts";
import { repetitions } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// V8 would take what it has compiled of the same source in this process.
beforeAll(() => setFlagsFromString("--no-compilation-cache"));
afterAll(() => setFlagsFromString("--compilation-cache"));

const isRoot = process.getuid?.() === 0;
const part = "part-ABCD1234";
const real = 'exports.value = (() => "real")();';
const fake = 'exports.value = (() => "fake")();';

/** A program of one part, and a folder for caches. `start` loads the part, and ends its process. */
function newProgram() {
  const folder = temporaryFolder();
  const caches = join(folder, "home", ".cache");
  mkdirSync(join(folder, "program"));
  mkdirSync(caches, { recursive: true, mode: 0o755 });
  const start = (source = real, env: NodeJS.ProcessEnv = { HOME: join(folder, "home") }) => {
    writeFileSync(join(folder, "program", `${part}.js`), source);
    const atEnd: (() => void)[] = [];
    const on = (_: string, run: () => void) => atEnd.push(run);
    const getuid = () => process.getuid!();
    const host = { ...process, execArgv: [], version: process.version, arch: process.arch, env, getuid, on };
    const { value } = programLoader(host as never, join(folder, "program"))(`${part}.js`);
    for (const run of atEnd) run();
    return value;
  };
  return { folder, caches, start };
}

/** A program with kept code, which is that of `fake`: it shows whether a start uses it. */
function withFakeCode() {
  const program = newProgram();
  program.start();
  program.start();
  const own = join(program.caches, "catalogue");
  const [name] = readdirSync(own);
  const file = join(own, name!, part);
  writeFileSync(file, fileOf(real, fake));
  return { ...program, own, file };
}

/** A file of kept code as the program writes it, but with the code of another source. */
function fileOf(source: string, other: string): Buffer {
  const wrapped = `(function (module, exports, require, __import, __filename) {${other}\n})`;
  const digest = Buffer.from(hash("sha256", source));
  return Buffer.concat([digest, new Script(wrapped).createCachedData(), digest, Buffer.from(source)]);
}

/** Moves a file or folder elsewhere, and links to it. */
function moveAndLink(path: string): void {
  renameSync(path, `${path}-elsewhere`);
  symlinkSync(`${path}-elsewhere`, path);
}

/** A user who is not root. */
const another = 64_001;

type Program = ReturnType<typeof withFakeCode>;

describe("kept code", () => {
  test("runs at the next start", () => {
    expect(withFakeCode().start()).toBe("fake");
  });

  test("is written with its folders for the user alone, whatever the umask is", () => {
    const { caches, start } = newProgram();
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    for (const run of [1, 2]) expect([run, start()]).toEqual([run, "real"]);
    const own = join(caches, "catalogue");
    const file = join(own, readdirSync(own)[0]!, part);
    const modes = [own, dirname(file), file].map((path) => (lstatSync(path).mode & 0o777).toString(8));
    expect(modes).toEqual(["700", "700", "600"]);
    expect(readdirSync(dirname(file))).toEqual([part]);
    expect(readdirSync(caches)).toEqual(["catalogue"]);
  });

  test("has the SHA-256 of its source, and is not used if any byte of it or of the source is another", () => {
    const { file, start } = withFakeCode();
    const whole = readFileSync(file);
    expect(whole.toString("latin1", 0, 64)).toBe(hash("sha256", real));
    const checked = [...Array(64).keys(), ...Array(64 + real.length).keys()].map((at, index) =>
      index < 64 ? at : whole.length - 1 - at,
    );
    for (const at of checked) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1;
      writeFileSync(file, changed);
      expect(start(), `byte ${at}`).toBe("real");
    }
  });

  test("is used for no other source, whatever its length", () => {
    const source = (value: string) => `exports.value = ${JSON.stringify(value)};`;
    const { start } = newProgram();
    start();
    const text = fc.string({ unit: "binary", maxLength: 4 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(start(source(one))).toBe(one);
        expect(start(source(other))).toBe(other);
        expect(start(source(one))).toBe(one);
      }),
      { numRuns: repetitions(8, 60) },
    );
    expect(start(fake)).toBe("fake");
    expect(start(real)).toBe("real");
  });

  test.each<[string, (program: Program) => void]>([
    ["a file that its group can write", ({ file }) => chmodSync(file, 0o620)],
    ["a file that all can write", ({ file }) => chmodSync(file, 0o602)],
    ["a link to a file", ({ file }) => moveAndLink(file)],
    ["a pipe", ({ file }) => makePipe(file)],
    ["a link to the folder of a version", ({ file }) => moveAndLink(dirname(file))],
    ["a folder of a version that its group can write", ({ file }) => chmodSync(dirname(file), 0o770)],
    ["a folder of a version that all can write", ({ file }) => chmodSync(dirname(file), 0o707)],
    ["a link to the folder of the program", ({ own }) => moveAndLink(own)],
    ["a folder of the program that its group can read", ({ own }) => chmodSync(own, 0o750)],
    ["a folder of the program that all can write", ({ own }) => chmodSync(own, 0o707)],
    ["a folder of caches that its group can write", ({ caches }) => chmodSync(caches, 0o770)],
    ["a folder of caches that all can write", ({ caches }) => chmodSync(caches, 0o777)],
    ["a home folder that its group can write", ({ caches }) => chmodSync(dirname(caches), 0o775)],
    ["a folder above that all can write", ({ folder }) => chmodSync(folder, 0o777)],
  ])("of %s is not used", (_, change) => {
    const program = withFakeCode();
    change(program);
    expect(program.start()).toBe("real");
  });

  test.runIf(isRoot).each<[string, (program: Program) => string]>([
    ["a file", ({ file }) => file],
    ["a folder of a version", ({ file }) => dirname(file)],
    ["a folder of the program", ({ own }) => own],
    ["a folder of caches", ({ caches }) => caches],
    ["a folder above", ({ folder }) => folder],
  ])("of %s of another user is not used (as root only)", (_, path) => {
    const program = withFakeCode();
    chownSync(path(program), another, another);
    expect(program.start()).toBe("real");
  });

  test("is used in sticky folders such as /tmp, and below a link of the user's", () => {
    const { caches, folder, start } = withFakeCode();
    chmodSync(folder, 0o1777);
    expect(start()).toBe("fake");
    moveAndLink(caches);
    expect(start()).toBe("fake");
  });

  test("of NODE_COMPILE_CACHE is not used, nor of the temporary folder or CAT_HOME, and nothing is written there", () => {
    const { folder, own, file, start } = withFakeCode();
    const others = ["NODE_COMPILE_CACHE", "TMPDIR", "CAT_HOME"].map((name) => [name, join(folder, name)]);
    for (const [, path] of others) mkdirSync(path!);
    writeFileSync(file, fileOf(real, real));
    const before = readdirSync(own);
    expect(start(real, { HOME: join(folder, "home"), ...Object.fromEntries(others) })).toBe("real");
    expect(others.map(([, path]) => readdirSync(path!))).toEqual([[], [], []]);
    expect(readdirSync(own)).toEqual(before);
  });

  test("NODE_DISABLE_COMPILE_CACHE turns it off", () => {
    const { folder, start } = withFakeCode();
    expect(start(real, { HOME: join(folder, "home"), NODE_DISABLE_COMPILE_CACHE: "1" })).toBe("real");
  });

  test("of versions that were first used over 30 days earlier is removed when another version is", () => {
    const { own, start } = withFakeCode();
    const age = (name: string, days: number) => {
      mkdirSync(join(own, name));
      writeFileSync(join(own, name, part), "");
      const time = Date.now() / 1000 - days * 24 * 60 * 60;
      utimesSync(join(own, name), time, time);
    };
    age("old", 31);
    age("recent", 29);
    const [current] = readdirSync(own);
    start();
    expect(existsSync(join(own, "old"))).toBe(true);
    renameSync(join(own, current!), join(own, "earlier"));
    start();
    expect(readdirSync(own).sort()).toEqual([current!, "earlier", "recent"]);
  });
});

/** A named pipe in the place of a file: opening it would wait. */
function makePipe(path: string): void {
  renameSync(path, `${path}-elsewhere`);
  // Node cannot make one.
  const { status } = spawnSync("mkfifo", [path]);
  expect(status).toBe(0);
}

describe("the folder of caches", () => {
  const none = { XDG_CACHE_HOME: undefined, LOCALAPPDATA: undefined };

  test("is that of env-paths on each platform, for an empty variable too", async () => {
    const named = { XDG_CACHE_HOME: "/caches", LOCALAPPDATA: "/local" };
    const empty = { XDG_CACHE_HOME: "", LOCALAPPDATA: "" };
    const cases = ["linux", "freebsd", "darwin", "win32"].flatMap((platform) =>
      [none, empty, named].map((variables) => ({
        platform,
        env: { HOME: "/home/ann", USERPROFILE: "/home/ann", ...variables },
      })),
    );
    // A process of its own, because the home folder of Node is the one of the system.
    const script = `import envPaths from "env-paths";
      const found = ${JSON.stringify(cases)}.map(({ platform, env }) => {
        for (const name of ["XDG_CACHE_HOME", "LOCALAPPDATA"]) delete process.env[name];
        Object.assign(process.env, env);
        Object.defineProperty(process, "platform", { value: platform });
        return envPaths("catalogue", { suffix: "" }).cache;
      });
      console.log(JSON.stringify(found));`;
    const { stdout } = await execa(process.execPath, ["--input-type=module", "-e", script], {
      env: { HOME: "/home/ann" },
    });
    const own = cases.map(({ platform, env }) => cacheFolder({ ...process, platform, env } as never));
    expect(own).toEqual(JSON.parse(stdout));
    expect(new Set(own).size).toBe(5);
  });

  test.each([
    [
      "a relative folder of caches counts as not set",
      "linux",
      { XDG_CACHE_HOME: "caches" },
      "/home/ann/.cache/catalogue",
    ],
    ["on Windows too", "win32", { LOCALAPPDATA: "local" }, "/home/ann/AppData/Local/catalogue/Cache"],
    ["an empty home folder keeps nothing", "linux", { HOME: "" }, null],
    ["a relative home folder keeps nothing", "linux", { HOME: "home" }, null],
    [
      "a folder of caches needs no home folder",
      "linux",
      { HOME: "", XDG_CACHE_HOME: "/caches" },
      "/caches/catalogue",
    ],
  ])("%s", (_, platform, variables, expected) => {
    const env = { HOME: "/home/ann", USERPROFILE: "/home/ann", ...variables };
    expect(cacheFolder({ ...process, platform, env } as never)).toBe(expected);
  });

  test("is created if it is missing, but no folder above it", () => {
    const { folder, start } = newProgram();
    const home = join(folder, "new");
    start(real, { HOME: home });
    expect(existsSync(home)).toBe(false);
    mkdirSync(home);
    start(real, { HOME: home });
    expect(lstatSync(join(home, ".cache")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, ".cache", "catalogue"))).toHaveLength(1);
  });

  test.runIf(isRoot)("is not created in the home folder of another user, as by sudo (as root only)", () => {
    const { folder, start } = newProgram();
    const home = join(folder, "theirs");
    mkdirSync(home);
    chownSync(home, another, another);
    start(real, { HOME: home });
    expect(readdirSync(home)).toEqual([]);
  });
});
