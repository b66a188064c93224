import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";

const hidden = ".catalogue-sync";

interface Line {
  readonly path: string;
  readonly product_id: string;
  readonly asset_id: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * What is wrong with a complete mirror, by its files alone: each line of the index has its file with its digest, each image of
 * the catalogue (`assets`: product and image ID) is there once, each file has a line, and the table says the same as the index.
 */
export function mirrorFaults(mirror: string, assets: ReadonlySet<string>): string[] {
  const text = readFileSync(join(mirror, "catalogue.ndjson"), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as Line);
  const wrong: string[] = [];
  const listed = new Map<string, string>();
  for (const { path, product_id, asset_id, bytes, sha256 } of entries) {
    const asset = `${product_id} ${asset_id}`;
    if (listed.has(asset)) wrong.push(`${asset} is listed twice: ${listed.get(asset)} and ${path}`);
    listed.set(asset, path);
    if (!assets.has(asset)) wrong.push(`the catalogue has no image ${asset}`);
    const file = join(mirror, path);
    const content = existsSync(file) ? readFileSync(file) : null;
    const isSame = content?.length === bytes && digestOf(content) === sha256;
    if (!isSame) wrong.push(`${path} is ${content === null ? "missing" : "not what the index says"}`);
  }
  for (const asset of assets) if (!listed.has(asset)) wrong.push(`the index lacks ${asset}`);
  const named = new Set(["catalogue.ndjson", ...entries.map(({ path }) => path)]);
  for (const file of readdirSync(mirror, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name).slice(mirror.length + 1);
    if (file.isFile() && !path.startsWith(`${hidden}/`) && !named.has(path))
      wrong.push(`no line of the index has ${path}`);
  }
  for (const name of readdirSync(join(mirror, hidden, "all", "parts"))) wrong.push(`${name} was left`);
  return [...wrong, ...tableFaults(join(mirror, hidden, "all", "index.db"), lines)];
}

const digestOf = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** How the table of a mirror differs from the lines of its index. Reads a copy. */
function tableFaults(table: string, lines: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-table-"));
  const copy = join(folder, "index.db");
  for (const end of ["", "-wal"]) if (existsSync(table + end)) copyFileSync(table + end, copy + end);
  const db = new Libsql(copy);
  try {
    const of = (sql: string) => db.prepare(sql).raw().all([]) as unknown as string[][];
    const rows = of("SELECT line FROM entry ORDER BY product_id, asset_id").map(([line]) => line);
    const placed = of("SELECT path FROM placed").map(([path]) => `the table still waits for ${path}`);
    const isSame = JSON.stringify(rows) === JSON.stringify(lines);
    return isSame ? placed : [...placed, `the table has ${rows.length} entries, the index ${lines.length}`];
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}
