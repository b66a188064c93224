import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";
import { beforeEach, expect, onTestFinished, vi } from "vitest";
import { version } from "../../src/cli/context/version.ts";
import { programLoader } from "../../src/cli/program-loader.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

/** A folder with parts, and a loader that keeps their code in the cache of `env`. `end` ends its process. */
function programIn(
  folder: string,
  parts: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = { NODE_DISABLE_COMPILE_CACHE: "1" },
  version = process.version,
) {
  for (const [name, code] of Object.entries(parts)) writeFileSync(join(folder, name), code);
  const atEnd: (() => void)[] = [];
  const host = {
    ...process,
    execArgv: [],
    version,
    arch: process.arch,
    env,
    getuid: () => process.getuid!(),
    on: (_: string, run: () => void) => atEnd.push(run),
  };
  const load = programLoader(host as never, folder);
  return { load, end: () => atEnd.forEach((run) => void run()) };
}

/** A folder of caches for a test, with the one for code in it, which the first start would create. */
function newCache() {
  const caches = temporaryFolder();
  const cache = join(caches, "catalogue", ofThisNode);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  return { cache, env: { XDG_CACHE_HOME: caches } };
}

const ofThisNode = `${version}-node-${process.version}-${process.arch}`;

longTest("loads a part once, with the parts, packages and modules of Node that it requires", () => {
  const { load } = programIn(temporaryFolder(), {
    "main.js":
      'const a = require("./a.js"); exports.both = [a.value, require("./a.js") === a, require("node:path").sep, __filename];',
    "a.js": 'exports.value = require("./main.js").both === undefined ? 1 : 2;',
  });
  expect(load("main.js")).toEqual({ both: [1, true, "/", expect.stringMatching(/\/main\.js$/)] });
});

longTest("names no folder of another installation in a stack", () => {
  const parts = { "part-ABCD1234.js": 'exports.stack = new Error("a").stack.split("\\n")[1];' };
  const { env } = newCache();
  const first = programIn(temporaryFolder(), parts, env);
  const { stack } = first.load("part-ABCD1234.js");
  first.end();
  expect(stack).toMatch(/^ +at catalogue\/part-ABCD1234\.js:1:\d+$/);
  expect(programIn(temporaryFolder(), parts, env).load("part-ABCD1234.js").stack).toBe(stack);
});

longTest("keeps the code of parts whose names have a hash, and does not write it again", () => {
  const folder = temporaryFolder();
  const { cache, env } = newCache();
  const parts = {
    "main.js": 'exports.value = require("./part-ABCD1234.js").value;',
    "part-ABCD1234.js": "exports.value = (() => 1)();",
  };
  const first = programIn(folder, parts, env);
  expect(first.load("main.js").value).toBe(1);
  expect(readdirSync(cache)).toEqual([]);
  first.end();
  expect(readdirSync(cache)).toEqual(["part-ABCD1234"]);
  const { ino } = statSync(join(cache, "part-ABCD1234"));
  const second = programIn(folder, parts, env);
  expect(second.load("main.js").value).toBe(1);
  second.end();
  expect(statSync(join(cache, "part-ABCD1234")).ino).toBe(ino);
});

longTest.each([
  ["half of it", (code: Buffer) => code.subarray(0, code.length / 2)],
  [
    "zeros at its end",
    (code: Buffer) => Buffer.concat([code.subarray(0, 200), Buffer.alloc(code.length - 200)]),
  ],
  ["nothing", () => Buffer.alloc(0)],
])("replaces kept code of which a crash has left %s", (_, damage) => {
  const folder = temporaryFolder();
  const { cache, env } = newCache();
  const parts = { "part-ABCD1234.js": "exports.value = (() => 1)();" };
  const start = () => {
    const { load, end } = programIn(folder, parts, env);
    expect(load("part-ABCD1234.js")).toEqual({ value: 1 });
    end();
  };
  start();
  const file = join(cache, readdirSync(cache)[0]!);
  const whole = readFileSync(file);
  writeFileSync(file, damage(whole));
  start();
  expect(readFileSync(file).length).toBe(whole.length);
});

longTest.each([
  ["v20.19.0", ["--heap-growing-percent=0", "--wasm-tiering-budget=1800000"]],
  ["v24.0.0", ["--heap-growing-percent=0"]],
])("resets only flags of V8 that a command sets in Node %s", (version, flags) => {
  const folder = temporaryFolder();
  const { env } = newCache();
  const set = vi.spyOn(v8, "setFlagsFromString").mockReturnValue();
  onTestFinished(() => set.mockRestore());
  programIn(folder, {}, env, version);
  const { load, end } = programIn(folder, { "part-ABCD1234.js": "" }, env, version);
  load("part-ABCD1234.js");
  end();
  expect(set.mock.calls.flat()).toEqual(flags);
});

longTest.each(["/proc/none", "/none/below", "/dev/null"])("starts without a place for code: %s", (place) => {
  const { load, end } = programIn(
    temporaryFolder(),
    { "part-ABCD1234.js": "exports.value = 1;" },
    { XDG_CACHE_HOME: place },
  );
  expect(load("part-ABCD1234.js")).toEqual({ value: 1 });
  expect(end).not.toThrow();
});

longTest("every part of the built program loads", () => {
  const program = join(dirname(dirname(catProgram)), "dist/program");
  const parts = readdirSync(join(program, "parts")).filter((name) => !name.startsWith("complete-"));
  expect(parts.length).toBeGreaterThan(100);
  const host = { ...process, env: { NODE_DISABLE_COMPILE_CACHE: "1" } };
  const load = programLoader(host as never, program);
  for (const name of parts) expect(() => load(`parts/${name}`), name).not.toThrow();
});

longTest(
  "commands keep their code from the second start on, also if they set flags of V8; the system's cat and --version keep none",
  async () => {
    const folder = temporaryFolder();
    const { version: built } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    const cache = join(folder, ".cache", "catalogue", ofThisNode.replace(version, built));
    const env = { HOME: folder, CAT_HOME: join(folder, "home") };
    await spawnCat([], { env, input: "hi" });
    await spawnCat(["--version"], { env });
    expect(existsSync(cache)).toBe(false);
    const list = () => spawnCat(["products", "list", "--mock"], { env });
    expect((await list()).exitCode).toBe(0);
    expect(readdirSync(cache)).toEqual([]);
    await list();
    const kept = readdirSync(cache).sort();
    expect(kept.length).toBeGreaterThan(10);
    const contents = () => kept.map((name) => readFileSync(join(cache, name), "latin1"));
    const before = contents();
    expect((await list()).exitCode).toBe(0);
    expect(readdirSync(cache).sort()).toEqual(kept);
    expect(contents()).toEqual(before);
  },
);

longTest("the build leaves imports in texts as they are", () => {
  const parts = fileURLToPath(new URL("../../dist/program/parts/", import.meta.url));
  const code = readdirSync(parts).map((name) => readFileSync(join(parts, name), "utf8"));
  const ofPage = '@typedef {import("./review.js").Result} Result';
  expect(code.filter((text) => text.includes(ofPage))).toHaveLength(1);
});
