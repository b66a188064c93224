import { readFileSync } from "node:fs";
import { nodeVersions } from "../../scripts/package-managers.js";

const page = new URL("../../docs/install.md", import.meta.url);

/** The rows of the table in docs/install.md, by system and manager: a cell for each version of Node. */
export function installTable(): Map<string, string[]> {
  const lines = readFileSync(page, "utf8").split("\n");
  const columns = nodeVersions.map((version) => `Node ${version}`);
  const header = `| system | installed by | ${columns.join(" | ")} |`;
  const first = lines.indexOf(header) + 2;
  if (first < 2) throw new Error(`docs/install.md has no table ${header}`);
  const rows = lines.slice(first, lines.indexOf("", first)).map((line) => line.slice(2, -2).split(" | "));
  return new Map(rows.map(([system, manager, ...cells]) => [`${system} | ${manager}`, cells]));
}

/** A row with what a test found in the column of one version of Node, and `others` elsewhere. */
export const rowWith = (node: string, cell: string | undefined, others: string) =>
  nodeVersions.map((version) => (version.split(".")[0] === node.split(".")[0] ? cell : others));
