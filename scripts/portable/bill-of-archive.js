// @ts-check

/**
 * @typedef {{ "bom-ref": string, group?: string, name: string, version: string,
 *   properties?: { name: string, value: string }[] }} Component
 * @typedef {{ metadata: { component: Component }, components: Component[],
 *   dependencies: { ref: string, dependsOn: string[] }[], serialNumber?: string }} Bill
 */

/**
 * The bill of materials of an archive: that of the package, without the packages for other systems, and with Node.
 * @param {string} text dist/sbom.cdx.json
 * @param {ReadonlySet<string>} installed the packages of the archive, as `name@version`
 * @param {string} node the version of Node
 */
export function billOfArchive(text, installed, node) {
  /** @type {Bill} */
  const bill = JSON.parse(text);
  const runtime = `pkg:generic/node@${node}`;
  const components = bill.components.filter(
    ({ group, name, version, properties }) =>
      properties?.some((one) => one.name === "cdx:npm:package:bundled") ||
      installed.has(`${group === undefined ? "" : `${group}/`}${name}@${version}`),
  );
  const self = bill.metadata.component["bom-ref"];
  const kept = new Set([self, ...components.map((one) => one["bom-ref"])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => {
      const others = dependsOn.filter((one) => kept.has(one));
      return { ref, dependsOn: ref === self ? [...others, runtime] : others };
    });
  const license = [{ license: { id: "MIT" } }];
  const ofNode = { name: "node", version: node, scope: "required", licenses: license, purl: runtime };
  // The number is that of the bill of the package.
  const { serialNumber: _, ...rest } = bill;
  const content = {
    ...rest,
    components: [{ type: "platform", "bom-ref": runtime, ...ofNode }, ...components],
    dependencies: [...dependencies, { ref: runtime, dependsOn: [] }],
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
