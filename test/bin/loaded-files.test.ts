import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { execa } from "execa";
import { expect } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createWorld } from "../support/world.ts";

/** The files of dist/program/ that a command loads. */
const loadedFiles = async (args: readonly string[], env?: Record<string, string>): Promise<string[]> =>
  (await loadedModules(args, env)).flatMap(
    (url) => /(?:\/dist\/program|^catalogue)\/(.+)$/.exec(url)?.[1] ?? [],
  );

/** The URLs of the modules that a command loads, from the coverage report of V8. */
async function loadedModules(args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const folder = temporaryFolder();
  const ran = await spawnCat(args, { env: { ...env, NODE_V8_COVERAGE: folder } });
  expect(ran).toMatchObject({ exitCode: 0 });
  const [report] = readdirSync(folder);
  const { result } = JSON.parse(readFileSync(join(folder, report!), "utf8")) as { result: { url: string }[] };
  return result.map(({ url }) => url);
}

longTest(
  "a dry run loads at most six files and --version loads one, because each costs half a millisecond",
  async () => {
    const file = join(temporaryFolder(), "a.csv");
    writeFileSync(file, "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
    const loaded = await loadedFiles(["import", "--dry-run", "--quiet", file]);
    expect(loaded).toContain("main.js");
    expect(loaded.length).toBeLessThanOrEqual(6);
    // With the schemas of the service it would be 900 KB.
    const dist = dirname(dirname(catProgram));
    const sizes = loaded.map((name) => statSync(join(dist, "dist/program", name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(520_000);
    expect(await loadedFiles(["--version"])).toEqual(["hand-over.js"]);
  },
);

longTest("no command of the service loads the schemas of the contract, because they take 20 ms", async () => {
  await using mock = await startMock({ demo: 3, speed: 100 });
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
  const folder = join(dirname(dirname(catProgram)), "dist/program");
  const hasSchemas = (name: string) => /\bZodObject\b/.test(readFileSync(join(folder, name), "utf8"));
  for (const args of [
    ["products", "list"],
    ["import", join(dirname(dirname(catProgram)), "fixtures/products.csv")],
    ["export", "--out", join(temporaryFolder(), "products.ndjson")],
  ]) {
    const loaded = await loadedFiles(args, env);
    expect([args, loaded.filter(hasSchemas)]).toEqual([args, []]);
  }
  expect((await loadedFiles(["products", "list", "--mock"])).filter(hasSchemas)).not.toEqual([]);
});

longTest("the top help is read from a file that has the same text, unless it is colored", async () => {
  const { stdout: help } = await (await createWorld()).cat("--help");
  expect(await loadedFiles(["--help"])).toEqual(["hand-over.js"]);
  for (const word of ["--help", "-h", "help"]) {
    expect(await spawnCat([word])).toMatchObject({ exitCode: 0, stdout: help, stderr: "" });
  }
  const colored = await spawnCat(["--help"], { env: { FORCE_COLOR: "1" } });
  expect(colored.stdout).toContain("\x1b[1mUsage\x1b[22m");
  expect(stripVTControlCharacters(colored.stdout)).toBe(help);
});

longTest("with CAT_API_KEY no code of the keychain is loaded", async () => {
  const loaded = await loadedModules(["whoami", "--mock"]);
  expect(loaded.filter((url) => /main\.js/.test(url))).toHaveLength(1);
  expect(loaded.filter((url) => /os-keychain|keyring|node_modules\/conf\//.test(url))).toEqual([]);
});

// Later versions of V8 wait longer, and print other words.
const isNode20 = process.versions.node.startsWith("20.");

longTest.runIf(isNode20)(
  "the first response does not make V8 optimize the HTTP parser, which takes 80 ms",
  async () => {
    needsBuild();
    const { stdout, exitCode } = await execa(process.execPath, [
      "--trace-wasm-compilation-times",
      ...[catProgram, "products", "list", "--mock", "--json"],
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Compiled WasmToJS wrapper");
    expect(stdout).not.toContain("using TurboFan");
  },
);
