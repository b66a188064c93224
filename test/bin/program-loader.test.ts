import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { programLoader } from "../../src/cli/program-loader.ts";
import { needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

/** A folder with parts, and a loader that keeps their code in `temporary`. `end` ends its process. */
function programIn(folder: string, parts: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  for (const [name, code] of Object.entries(parts)) writeFileSync(join(folder, name), code);
  const atEnd: (() => void)[] = [];
  const host = {
    ...process,
    execArgv: [],
    version: process.version,
    arch: process.arch,
    env,
    getuid: () => process.getuid!(),
    on: (_: string, run: () => void) => atEnd.push(run),
  };
  const load = programLoader(host as never, folder);
  return { load, end: () => atEnd.forEach((run) => void run()) };
}

/** Sets the temporary folder of a test. */
function useTemporary(folder: string): string {
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return join(folder, "node-compile-cache", `catalogue-${process.version}-${process.arch}`);
}

test("loads a part once, with the parts, packages and modules of Node that it requires", () => {
  const folder = temporaryFolder();
  useTemporary(folder);
  const { load } = programIn(folder, {
    "main.js":
      'const a = require("./a.js"); exports.both = [a.value, require("./a.js") === a, require("node:path").sep, __filename];',
    "a.js": 'exports.value = require("./main.js").both === undefined ? 1 : 2;',
  });
  expect(load("main.js")).toEqual({ both: [1, true, "/", join(folder, "main.js")] });
});

test("keeps the code of parts whose names have a hash, and uses it at the next start", () => {
  const folder = temporaryFolder();
  const cache = useTemporary(folder);
  const parts = { "main.js": 'exports.value = require("./part-ABCD1234.js").value;' };
  const first = programIn(folder, { ...parts, "part-ABCD1234.js": "exports.value = (() => 1)();" });
  expect(first.load("main.js").value).toBe(1);
  expect(readdirSync(cache)).toEqual([]);
  first.end();
  const [name, ...others] = readdirSync(cache);
  expect([name, others]).toEqual(["part-ABCD1234", []]);

  // Code of the same length shows that the kept one ran: a changed part has another hash in its name.
  const second = programIn(folder, { ...parts, "part-ABCD1234.js": "exports.value = (() => 2)();" });
  expect(second.load("main.js").value).toBe(1);
  const kept = readFileSync(join(cache, name!));
  second.end();
  expect(readFileSync(join(cache, name!))).toEqual(kept);
});

test.each([
  ["half of it", (code: Buffer) => code.subarray(0, code.length / 2)],
  [
    "zeros at its end",
    (code: Buffer) => Buffer.concat([code.subarray(0, 200), Buffer.alloc(code.length - 200)]),
  ],
  ["nothing", () => Buffer.alloc(0)],
])("replaces kept code of which a crash has left %s", (_, damage) => {
  const folder = temporaryFolder();
  const cache = useTemporary(folder);
  const parts = { "part-ABCD1234.js": "exports.value = (() => 1)();" };
  const start = () => {
    const { load, end } = programIn(folder, parts);
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

test("NODE_DISABLE_COMPILE_CACHE turns it off, and NODE_COMPILE_CACHE names another folder", () => {
  const folder = temporaryFolder();
  const cache = useTemporary(folder);
  const parts = { "part-ABCD1234.js": "exports.value = 1;" };
  const start = (env: NodeJS.ProcessEnv) => {
    const { load, end } = programIn(folder, parts, env);
    expect(load("part-ABCD1234.js")).toEqual({ value: 1 });
    end();
  };
  start({ NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(existsSync(cache)).toBe(false);
  start({ NODE_COMPILE_CACHE: join(folder, "own") });
  expect(existsSync(cache)).toBe(false);
  expect(readdirSync(join(folder, "own", `catalogue-${process.version}-${process.arch}`))).toHaveLength(1);
});

test.each(["/proc/none", "/none", "/dev/null"])("starts without a place for code: %s", (temporary) => {
  const folder = temporaryFolder();
  useTemporary(temporary);
  const { load, end } = programIn(folder, { "part-ABCD1234.js": "exports.value = 1;" });
  expect(load("part-ABCD1234.js")).toEqual({ value: 1 });
  expect(end).not.toThrow();
});

test("uses no code from a folder of another user", () => {
  const folder = temporaryFolder();
  const cache = useTemporary(folder);
  mkdirSync(cache, { recursive: true });
  vi.spyOn(process, "getuid").mockReturnValue(process.getuid!() + 1);
  onTestFinished(() => void vi.restoreAllMocks());
  const { load, end } = programIn(folder, { "part-ABCD1234.js": "exports.value = 1;" });
  expect(load("part-ABCD1234.js")).toEqual({ value: 1 });
  end();
  expect(readdirSync(cache)).toEqual([]);
});

test("keeps the code of commands, also of those that set flags of V8, but none for the system's cat and --version", async () => {
  const folder = temporaryFolder();
  const cache = useTemporary(folder);
  const env = { TMPDIR: folder, CAT_HOME: join(folder, "home") };
  await spawnCat([], { env, input: "hi" });
  await spawnCat(["--version"], { env });
  expect(existsSync(cache)).toBe(false);
  const list = ["products", "list", "--mock"];
  expect((await spawnCat(list, { env })).exitCode).toBe(0);
  const kept = readdirSync(cache).sort();
  expect(kept.length).toBeGreaterThan(10);
  const times = () => kept.map((name) => readFileSync(join(cache, name)).toString("latin1"));
  const before = times();
  expect((await spawnCat(list, { env })).exitCode).toBe(0);
  expect(readdirSync(cache).sort()).toEqual(kept);
  expect(times()).toEqual(before);
});
