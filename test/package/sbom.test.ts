import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import lockfile from "../../package-lock.json" with { type: "json" };
import { billOfMaterials } from "../../scripts/bundled-packages.js";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { cycloneDxCheck } from "./cyclonedx.ts";

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope: string;
  readonly "bom-ref": string;
  readonly licenses: readonly { license?: { id: string }; expression?: string }[];
  readonly properties: readonly { name: string; value: string }[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const locked: Readonly<Record<string, { version?: string; license?: string }>> = lockfile.packages;

let text: string;
let bom: {
  serialNumber: string;
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};
beforeAll(() => {
  needsBuild();
  text = readFileSync(join(root, "dist/sbom.cdx.json"), "utf8");
  bom = JSON.parse(text);
});

const nameOf = ({ group, name }: Component) => (group === undefined ? name : `${group}/${name}`);
const licenseOf = ({ licenses: [one] }: Component) => one?.license?.id ?? one?.expression;
const isBundled = ({ properties }: Component) =>
  properties.some(({ name, value }) => name === "cdx:npm:package:bundled" && value === "true");

longTest("is a valid CycloneDX document, by the schema of CycloneDX", () => {
  const validate = cycloneDxCheck();
  expect([validate(bom), validate.errors]).toEqual([true, null]);
  const [first] = bom.components;
  expect(validate({ ...bom, components: [{ ...first, licenses: [{ license: { id: "MYT" } }] }] })).toBe(
    false,
  );
});

test("has each package of licenses.txt as bundled, with its version, license and address", () => {
  const titles = readFileSync(join(root, "dist/licenses.txt"), "utf8")
    .split(`\n\n${"-".repeat(80)}\n\n`)
    .map((one) => one.slice(0, one.search(/\n|$/)));
  const bundled = bom.components.filter(isBundled);
  expect(bundled.map((one) => `${nameOf(one)} ${one.version} (${licenseOf(one)})`).sort()).toEqual(
    titles.sort(),
  );
  expect(titles.some((one) => /^undici \d/.test(one))).toBe(true);
  for (const one of bom.components)
    expect(one.purl).toBe(`pkg:npm/${nameOf(one).replace("@", "%40")}@${one.version}`);
});

longTest("has the packages that esbuild reads for the same programs, and no others, as bundled", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts", "src/index.ts", "src/mock/index.ts", "src/mock-page/app/main.tsx"],
    ...{ bundle: true, platform: "node", format: "esm", write: false, metafile: true, outdir: "none" },
    ...{ jsx: "automatic", jsxImportSource: "preact", logLevel: "silent" },
    external: [...Object.keys(manifest.optionalDependencies), "esbuild"],
  });
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  const read = folders.map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return `${name} ${version}`;
  });
  const bundled = bom.components.filter(isBundled).map((one) => `${nameOf(one)} ${one.version}`);
  expect(bundled.sort()).toEqual([...new Set(read)].sort());
});

test("has what users install with the package, in the versions of the lockfile", () => {
  const installed = bom.components.filter((one) => !isBundled(one));
  const versions = Object.entries(locked).map(
    ([path, one]) => `${path.replace(/^.*node_modules\//, "")} ${one.version} ${one.license}`,
  );
  const found = installed.map((one) => `${nameOf(one)} ${one.version} ${licenseOf(one)}`);
  expect(found.filter((one) => !versions.includes(one))).toEqual([]);
  const scopes = Object.fromEntries(installed.map((one) => [nameOf(one), one.scope]));
  for (const name of Object.keys(manifest.optionalDependencies))
    expect([name, scopes[name]]).toEqual([name, "optional"]);
  // Needed by those: a package for one platform.
  expect(scopes).toMatchObject({ "@libsql/linux-x64-gnu": "optional" });
  expect(Object.keys(scopes).filter((name) => /vitest|esbuild|typescript|@types/.test(name))).toEqual([]);
});

test("has one entry for each component, and every dependency is one of them", () => {
  const references = bom.components.map((one) => one["bom-ref"]);
  expect(references).toEqual([...new Set(references)].sort());
  const own = `pkg:npm/%40catalogue-imaging/catalogue@${manifest.version}`;
  expect(bom.dependencies.map(({ ref }) => ref)).toEqual([own, ...references]);
  expect(
    bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !references.includes(ref)),
  ).toEqual([]);
  const reached = new Set([own]);
  for (const ref of reached)
    for (const one of bom.dependencies.find((of) => of.ref === ref)?.dependsOn ?? []) reached.add(one);
  expect(references.filter((ref) => !reached.has(ref))).toEqual([]);
});

test("has no date, and the same serial number for the same content alone", () => {
  expect(text).not.toMatch(/timestamp|\d{4}-\d\d-\d\d/);
  const one = { version: "1.0.0", license: "MIT" };
  const own = { name: "a", ...one, devDependencies: { b: "1", c: "1" } };
  const made = (...names: string[]) =>
    billOfMaterials(own, new Map(names.map((name) => [`node_modules/${name}`, { name, ...one }])), {
      "": own,
      "node_modules/b": one,
      "node_modules/c": one,
    });
  expect(made("b", "c")).toBe(made("c", "b"));
  const serial = (bill: string) => (JSON.parse(bill) as typeof bom).serialNumber;
  expect(serial(made("b"))).not.toBe(serial(made("c")));
  expect(bom.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
});
