import { cpSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import lockfile from "../../package-lock.json" with { type: "json" };
import { repetitions } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Installed, installPackage } from "./installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const packages = lockfile.packages as Record<string, Locked>;

interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** The packages that users get with these: of the lockfile, as Node finds them. */
function installedWith(names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (name: string, from: string) => {
    let home = from;
    while (packages[join(home, "node_modules", name)] === undefined && home !== ".") home = dirname(home);
    const path = join(home, "node_modules", name);
    if (found.has(path) || packages[path] === undefined) return;
    found.add(path);
    const { dependencies, optionalDependencies } = packages[path];
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) add(one, path);
  };
  for (const name of names) add(name, ".");
  return found;
}

/** Those of the packages whose version `overrides` chooses, which applies in this project only. */
const overridden = (paths: Iterable<string>) =>
  [...paths].filter((path) => Object.keys(manifest.overrides).some((name) => path.endsWith(`/${name}`)));

test("users get no package whose version is chosen by overrides, which npm does not apply for them", () => {
  const users = installedWith(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
  expect(users).toContain("node_modules/sharp");
  expect(overridden(users)).toEqual([]);
  // With a server of the examples as a dependency, one is found.
  expect(overridden(installedWith(["fastify"]))).toEqual(["node_modules/light-my-request"]);
});

let installed: Installed;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

/** Uses the client and the mock of the package. */
const consumer = `
import { createClient } from "${manifest.name}";
import { startMock } from "${manifest.name}/mock";
const mock = await startMock({ demo: 3 });
const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });
const { data } = await client.products.list({ limit: 1 });
await client.close();
await mock.stop();
console.log(data.length, mock.requests().length);
`;

// `npm run test:long` only: these install from the registry.
test.runIf(repetitions(false, true)).for(["20.19", "22", "24", "26"])(
  "Node %s installs the package with --engine-strict into an empty folder, and runs it",
  async (version, { skip }) => {
    const folder = temporaryFolder();
    // Each version of Node is a package of the registry.
    const binary = `node-${process.platform}-${process.arch}`;
    const found = await execa("npm", ["install", "--prefix", join(folder, "node"), `${binary}@${version}`], {
      reject: false,
    });
    skip(found.failed, `cannot get Node ${version} from the registry: ${found.stderr}`);
    const node = join(folder, "node/node_modules", binary, "bin");
    const project = join(folder, "project");
    cpSync(join(root, "fixtures"), join(project, "fixtures"), { recursive: true });
    writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
    writeFileSync(join(project, "consumer.js"), consumer);
    // npm runs on the first `node` of PATH.
    const env = { PATH: `${node}:${process.env.PATH}`, HOME: folder, CAT_HOME: join(folder, "home") };
    const run = (program: string, ...args: string[]) => execa(program, args, { cwd: project, env });

    expect((await run("node", "--version")).stdout).toMatch(new RegExp(`^v${version}\\.`));
    await run("npm", "install", "--engine-strict", installed.tarball);
    const cat = join(project, "node_modules/.bin/cat");
    const imported = await run(cat, "import", "fixtures/products.csv", "--mock", "--no-progress");
    expect(imported.stderr).toMatch(/^Imported 24 rows from fixtures\/products\.csv in .*: 24 created\.$/);
    expect((await run("node", "consumer.js")).stdout).toBe("1 1");
  },
);
