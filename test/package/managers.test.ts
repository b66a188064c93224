import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillProject, getTools, managers, nodeOf, nodeVersions } from "../../scripts/package-managers.js";
import { startMock } from "../../src/mock/index.ts";
import { isLong } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { installTable } from "./install-table.ts";
import { type Installed, installPackage } from "./installed.ts";
import { noNetwork } from "./no-network.ts";
import { fillForSmoke, smokeScript, works } from "./smoke.ts";

/** All of them take many minutes: `npm run test:managers`; MANAGERS=yarn tries those of this name. */
const { MANAGERS: chosen } = process.env;
const tried = managers.filter(({ name }) => !chosen || chosen === "all" || name.startsWith(chosen));
const versionsOf = (manager: (typeof managers)[number]) => (chosen ? nodeVersions : [manager.tried]);

/** Scripts of the project, which find this program as cat. */
const scripts = {
  notes: "cat notes.txt",
  piped: "echo through a pipe | cat",
  check: "catalogue doctor --mock --json",
};

// `npm run test:long` only: these install from the registry, afresh and without a lockfile.
describe.runIf(isLong)("the packed package, installed afresh", () => {
  let installed: Installed;
  let tools: string;
  /** Why nothing can be installed, or what could not be. */
  let unavailable = "";
  const withoutRegistry = (what: string, error: Error) => {
    if (!noNetwork.test(error.message)) throw error;
    unavailable = `${what} cannot reach the registry: ${error.message}`;
  };
  beforeAll(async () => {
    installed = await installPackage();
    tools = join(installed.folder, "tools");
    await getTools(tools, nodeVersions).catch((error) => withoutRegistry("npm", error));
  }, 600_000);
  afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

  /** The cell of the table in docs/install.md, by manager and version. */
  const cells = new Map<string, string>();

  describe.each(tried)("by $name", (manager) => {
    const { name, program, add, node = [], unsupported = [] } = manager;

    test.for(versionsOf(manager))("on Node %s", { timeout: 600_000 }, async (version, { skip }) => {
      skip(unavailable !== "", unavailable);
      const project = temporaryFolder();
      const home = join(project, "home");
      mkdirSync(home);
      const run = nodeOf(tools, version, project, home);
      const tool = join(tools, "node_modules", program);
      expect((await run("--version")).stdout).toMatch(new RegExp(`^v${version}\\.`));
      if (unsupported.includes(version)) {
        expect((await run(tool, "--version")).stderr).toMatch(/ does not support Node\.js v/);
        cells.set(`${name} ${version}`, "not supported by npm");
        return;
      }

      fillProject(project, manager, installed.tarball, scripts);
      cpSync(smokeScript, join(project, "smoke.mjs"));
      await fillForSmoke(project);
      writeFileSync(join(project, "notes.txt"), "first note\nlast note\n");
      await run(tool, ...add).catch((error) => withoutRegistry(name, error));
      skip(unavailable !== "", unavailable);

      const smoke = await run(...(node.length === 0 ? [] : [tool, ...node]), "smoke.mjs");
      expect(smoke.stdout.trimEnd().split("\n").sort()).toEqual(works);
      const script = async (script: keyof typeof scripts) =>
        (await run(tool, "run", script)).stdout.split("\n");
      expect(await script("notes")).toEqual(expect.arrayContaining(["first note", "last note"]));
      expect(await script("piped")).toContain("through a pipe");
      const report = (await script("check")).find((line) => line.startsWith("{"))!;
      const cat = JSON.parse(report).checks.find((check: { name: string }) => check.name === "cat");
      expect(cat).toMatchObject({
        status: "warning",
        message: expect.stringMatching(
          /^scripts of this project find this program as cat: .*; cat FILE goes to \/\S+$/,
        ),
      });
      cells.set(`${name} ${version}`, "✓");
    });
  });

  test("by npm for oneself: both names, man pages and Tab, and a file is imported and that undone", async ({
    skip,
  }) => {
    skip(unavailable !== "", unavailable);
    const folder = temporaryFolder();
    const prefix = join(folder, "own");
    const install = ["install", "--global", "--prefix", prefix, "--ignore-scripts", installed.tarball];
    await execa("npm", install).catch((error) => withoutRegistry("npm", error));
    skip(unavailable !== "", unavailable);
    await using mock = await startMock({ demo: 1 });
    const env = {
      PATH: `${prefix}/bin:${process.env.PATH}`,
      ...{ CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: join(folder, "home") },
    };
    const run = async (program: string, ...args: string[]) =>
      (await execa(program, args, { cwd: folder, env })).stdout;
    const references = async () =>
      (await run("cat", "products", "list", "--format", "csv", "--fields", "reference")).split("\n").slice(1);
    writeFileSync(join(folder, "a.csv"), "reference,name,images\nA-1,Dress,https://cdn.example.com/a.jpg\n");
    const before = await references();
    await run("cat", "import", "a.csv", "--no-progress");
    expect(await references()).toEqual(["A-1", ...before]);
    await run("catalogue", "imports", "undo", "last", "--yes", "--no-progress");
    expect(await references()).toEqual(before);
    expect(await run("cat", "a.csv")).toContain("A-1,Dress");
    expect(existsSync(join(prefix, "share/man/man1/cat-import.1"))).toBe(true);
    expect(await run("catalogue", "__complete", "catalogue", "imports", "un")).toContain("undo");
    expect(await run("catalogue", "completion", "bash")).toContain("__complete");
  });

  test("by npm into a folder that has the system's cat, such as /usr/bin, nothing is installed, and that cat stays", async ({
    skip,
  }) => {
    skip(unavailable !== "", unavailable);
    const prefix = temporaryFolder();
    mkdirSync(join(prefix, "bin"));
    writeFileSync(join(prefix, "bin/cat"), "of the system");
    const install = ["install", "--global", "--prefix", prefix, "--omit=optional", installed.tarball];
    const { exitCode, stderr } = await execa("npm", install, { reject: false });
    expect([exitCode, stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining("EEXIST: file already exists"),
    ]);
    expect(exitCode).not.toBe(0);
    expect(readdirSync(join(prefix, "bin"))).toEqual(["cat"]);
    expect(readFileSync(join(prefix, "bin/cat"), "utf8")).toBe("of the system");
  });

  test("docs/install.md has a tick for each of them that works, and for no other", ({ skip }) => {
    skip(unavailable !== "", unavailable);
    const table = installTable();
    const cellOf = (name: string, version: string) =>
      table.get(`Linux x64 | ${name}`)?.[nodeVersions.indexOf(version)];
    for (const one of tried)
      for (const version of versionsOf(one))
        expect([one.name, version, cellOf(one.name, version)]).toEqual([
          ...[one.name, version, cells.get(`${one.name} ${version}`)],
        ]);
  });
});
