import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extractZips } from "../../src/flows/export/archive/extract-zips.ts";

/** The contents of each file below a folder, by path. */
export type Tree = ReadonlyMap<string, string>;

/**
 * The files that an export left. A ZIP counts as the files in it, with their checksums verified, because it has the time of
 * its job; manifests are without signed URLs. A file that cannot be read that way has its problem as its contents.
 */
export async function treeOf(folder: string, skip: readonly string[] = []): Promise<Tree> {
  const tree = new Map<string, string>();
  if (!existsSync(folder)) return tree;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    // When a mirror was last complete, and the order in which its table grew, are its own business.
    if (["state.json", "index.db"].includes(entry.name)) continue;
    if (!entry.isFile() || skip.some((name) => path === name || path.startsWith(`${name}/`))) continue;
    if (path.endsWith(".zip"))
      for (const [name, text] of await filesOf(join(folder, path))) tree.set(`${path}/${name}`, text);
    else tree.set(path, textOf(join(folder, path)));
  }
  return tree;
}

const signedUrls = /"url(_expires_at)?":"[^"]*"/g;

function textOf(path: string): string {
  const bytes = readFileSync(path);
  return path.endsWith(".jsonl") ? bytes.toString().replace(signedUrls, "") : bytes.toString("latin1");
}

async function filesOf(path: string): Promise<Tree> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-zip-"));
  try {
    const dir = join(folder, "files");
    await extractZips({ archives: [{ path }], dir, signal: new AbortController().signal });
    return await treeOf(dir);
  } catch (error) {
    return new Map([["", `broken: ${(error as Error).message}`]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How a tree differs from the expected one, a sentence per file. */
export function differencesOf(found: Tree, expected: Tree): string[] {
  const paths = new Set([...found.keys(), ...expected.keys()]);
  return [...paths].flatMap((path) => {
    const [is, should] = [found.get(path), expected.get(path)];
    if (is === should) return [];
    if (is === undefined) return [`${path} is missing`];
    if (should === undefined) return [`${path} should not exist`];
    return [`${path} has other contents (${is.length} instead of ${should.length} characters)`];
  });
}
