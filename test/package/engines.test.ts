import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import lockfile from "../../package-lock.json" with { type: "json" };

const packages = lockfile.packages as Record<string, Locked>;

interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
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
  const users = installedWith(Object.keys(manifest.optionalDependencies));
  expect(users).toContain("node_modules/sharp");
  expect(overridden(users)).toEqual([]);
  // With a server of the examples as a dependency, one is found.
  expect(overridden(installedWith(["fastify"]))).toEqual(["node_modules/light-my-request"]);
});

test("users get nothing but the packages for their system, which are optional", () => {
  expect(manifest).not.toHaveProperty("dependencies");
  expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring", "libsql", "sharp"]);
});

test("no package runs a script at npm ci, and npm warns about none: its script is denied", () => {
  const found = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = found.map(([path]) => path.replace(/^.*node_modules\//, "")).filter((name) => name !== "");
  expect(new Set(names)).toEqual(new Set(Object.keys(manifest.allowScripts)));
  expect(Object.values(manifest.allowScripts)).toEqual(names.map(() => false));
});

test("one thing is left to fill in before the package is published: OWNER of its addresses", () => {
  const { homepage, bugs, repository } = manifest;
  expect([homepage, bugs.url, repository.url]).toEqual([
    "https://example.com/OWNER/catalogue#readme",
    "https://example.com/OWNER/catalogue/issues",
    "git+https://example.com/OWNER/catalogue.git",
  ]);
  expect(JSON.stringify({ ...manifest, homepage: 0, bugs: 0, repository: 0 })).not.toMatch(
    /OWNER|TODO|example/,
  );
});
