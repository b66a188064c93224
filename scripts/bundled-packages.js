// @ts-check
// The packages whose code is in the built files, from what esbuild says about its inputs: their licenses, and the bill of
// materials.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * What a lockfile says about the package in a folder, and package.json with its name.
 * @typedef {{ version: string, license: string, dependencies?: Record<string, string>,
 *   devDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked
 * @typedef {Locked & { name: string }} Manifest
 */

/**
 * The packages with a file in a build, by their folders.
 * @param {string} root
 * @param {Pick<import("esbuild").BuildResult, "metafile">[]} builds
 * @returns {Promise<Map<string, Manifest>>}
 */
export async function bundledPackages(root, builds) {
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const found = [...folders].sort().map(async (folder) => {
    const text = await readFile(join(root, folder, "package.json"), "utf8");
    return /** @type {const} */ ([folder, JSON.parse(text)]);
  });
  return new Map(await Promise.all(found));
}

/**
 * The licenses of packages, which must come with copies of their code.
 * @param {string} root
 * @param {ReadonlyMap<string, Manifest>} packages
 */
export async function licensesOf(root, packages) {
  const texts = [...packages].map(async ([folder, { name, version, license: id }]) => {
    const names = (await readdir(join(root, folder))).filter((name) => /^licen[cs]e/i.test(name)).sort();
    const license = await Promise.all(names.map((name) => readFile(join(root, folder, name), "utf8")));
    return [`${name} ${version} (${id})`, ...license.map((text) => text.trim())].join("\n\n");
  });
  return `${(await Promise.all(texts)).join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/**
 * The CycloneDX bill of materials of the package: the bundled packages, and those that users install with it, in the versions of
 * the lockfile. It depends on nothing but its content, so that a build can be compared with another.
 * @param {Manifest} own
 * @param {ReadonlyMap<string, Manifest>} bundled
 * @param {Readonly<Record<string, Locked>>} locked `packages` of the lockfile
 */
export function billOfMaterials(own, bundled, locked) {
  const required = installedPackages(own, locked, ({ dependencies }) => ({ ...dependencies }));
  // A version may be in several folders; a bundled one counts.
  const packages = new Map([...installedPackages(own, locked, atRunTime), ...bundled]);
  const components = new Map(
    [...packages].map(([path, one]) => {
      const isBundled = bundled.has(path);
      const scope = isBundled || required.has(path) ? "required" : "optional";
      const properties = isBundled ? [{ name: "cdx:npm:package:bundled", value: "true" }] : [];
      return [path, { ...toComponent(one), scope, properties }];
    }),
  );
  /** @param {string} from @param {Record<string, string>} needed */
  const referencesTo = (from, needed) =>
    Object.keys(needed)
      .flatMap((name) => components.get(pathOf(from, name, locked) ?? "")?.["bom-ref"] ?? [])
      .sort();
  const byReference = new Map([...components.values()].map((one) => [one["bom-ref"], one]));
  const dependencies = new Map(
    [...packages].map(([path, one]) => [toComponent(one)["bom-ref"], referencesTo(path, atRunTime(one))]),
  );
  const self = toComponent(own);
  const ofSelf = referencesTo("", { ...own.devDependencies, ...atRunTime(own) });
  const content = {
    metadata: { lifecycles: [{ phase: "build" }], component: { ...self, type: "application" } },
    components: sorted(byReference).map(([, one]) => one),
    dependencies: [
      { ref: self["bom-ref"], dependsOn: ofSelf },
      ...sorted(dependencies).map(([ref, dependsOn]) => ({ ref, dependsOn })),
    ],
  };
  const head = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${toUuid(JSON.stringify(content))}`,
    version: 1,
  };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}

/** @param {Locked} manifest */
const atRunTime = ({ dependencies, optionalDependencies }) => ({ ...dependencies, ...optionalDependencies });

/**
 * The packages that a package brings, by their folders, if each brings what `needs` says.
 * @param {Manifest} own
 * @param {Readonly<Record<string, Locked>>} locked
 * @param {(manifest: Locked) => Record<string, string>} needs
 */
function installedPackages(own, locked, needs) {
  const found = new Map([["", own]]);
  for (const [from, manifest] of found) {
    for (const name of Object.keys(needs(manifest))) {
      const path = pathOf(from, name, locked);
      const one = path && locked[path];
      if (path && one) found.set(path, { ...one, name });
    }
  }
  found.delete("");
  return found;
}

/**
 * The folder from which a package in `from` loads another: in its own node_modules, or in one above.
 * @param {string} from
 * @param {string} name
 * @param {Readonly<Record<string, Locked>>} locked
 * @returns {string | undefined}
 */
function pathOf(from, name, locked) {
  const path = `${from && `${from}/`}node_modules/${name}`;
  if (path in locked) return path;
  if (from === "") return undefined;
  return pathOf(from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))), name, locked);
}

/** @param {Manifest} manifest */
function toComponent({ name, version, license }) {
  const [group, own] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  // An SPDX expression, such as MIT OR Apache-2.0, is not an ID.
  const licenses = [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }];
  return { type: "library", "bom-ref": purl, ...(group && { group }), name: own, version, licenses, purl };
}

/** @template Value @param {ReadonlyMap<string, Value>} entries */
const sorted = (entries) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * A UUID of version 8, which an application may derive from anything.
 * @param {string} text
 */
function toUuid(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
