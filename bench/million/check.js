// Compares a mirror with the service by the service's own list and bytes, and by the files on the disk: with none of the program's code.
import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Pool } from "undici";
import { headers } from "../servers.js";

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/**
 * Throws on the first image that is missing, differs, has a twin, or is not in the catalogue, and on any file too many.
 * `everyNth`: which images are also compared with the bytes that the service has.
 */
export async function checkMirror(mirror, baseUrl, { everyNth = 1 } = {}) {
  const pool = new Pool(baseUrl, { connections: 16 });
  const read = async (path) => {
    const { statusCode, body } = await pool.request({ path, method: "GET", headers });
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
    return Buffer.from(await body.arrayBuffer());
  };
  // A digest by asset: 2 million objects would take more memory than the program.
  const digests = new Map();
  const paths = new Set();
  const differences = [];
  let last = "";
  for await (const line of createInterface({ input: createReadStream(join(mirror, "catalogue.ndjson")) })) {
    const entry = JSON.parse(line);
    const key = `${entry.product_id} ${entry.asset_id}`;
    if (key <= last) differences.push(`${key} is not after ${last}`);
    last = key;
    if (paths.has(entry.path)) differences.push(`two images have the name ${entry.path}`);
    paths.add(entry.path);
    const file = readFileSync(join(mirror, entry.path));
    if (file.length !== entry.bytes || sha256(file) !== entry.sha256)
      differences.push(`${entry.path} differs from its index line`);
    digests.set(key, entry.sha256);
  }
  const files = readdirSync(mirror).filter((name) => !/^catalogue(?:\.\d+-of-\d+)?\.ndjson$/.test(name));
  for (const name of files)
    if (name !== ".catalogue-sync" && !paths.has(name)) differences.push(`${name} is in no index`);
  if (files.length !== paths.size + 1)
    differences.push(`${files.length - 1} files, ${paths.size} index lines`);
  let compared = 0;
  let assets = 0;
  let cursor = "";
  do {
    const page = JSON.parse(await read(`/v1/exports?limit=100${cursor}`));
    await Promise.all(
      page.data.flatMap(({ product, assets: listed }) =>
        listed.map(async ({ id, url }) => {
          const key = `${product.id} ${id}`;
          const digest = digests.get(key);
          digests.delete(key);
          if (digest === undefined) return differences.push(`${key} is not in the mirror`);
          if (assets++ % everyNth !== 0) return;
          compared++;
          const { pathname, search } = new URL(url);
          if (sha256(await read(pathname + search)) !== digest) differences.push(`${key} differs`);
        }),
      ),
    );
    cursor = page.has_more ? `&cursor=${page.next_cursor}` : null;
  } while (cursor !== null);
  for (const key of digests.keys()) differences.push(`${key} is not in the catalogue`);
  await pool.close();
  if (differences.length > 0)
    throw new Error(`${differences.length} differences:\n${differences.slice(0, 20).join("\n")}`);
  return { images: assets, files: paths.size, compared };
}
