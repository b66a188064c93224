import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExtractionResult, extractZips } from "../../../../src/flows/export/archive/extract-zips.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Every path below a folder and its bytes, with `/` after folders. */
export function treeOf(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    found
      .map((one): [string, string] => {
        const path = join(one.parentPath, one.name);
        const name = path.slice(folder.length + 1);
        return one.isDirectory() ? [`${name}/`, ""] : [name, readFileSync(path, "latin1")];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Extracts ZIPs, `1.zip` and so on, into `out` in a new folder. */
export async function extracted(
  zips: readonly Buffer[],
  { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
): Promise<{
  result: ExtractionResult | null;
  error: unknown;
  tree: Record<string, string> | null;
  left: string[];
}> {
  const folder = temporaryFolder();
  const archives = zips.map((bytes, index) => {
    const path = join(folder, `${index + 1}.zip`);
    writeFileSync(path, bytes);
    return { path, shown: `${index + 1}.zip` };
  });
  const dir = join(folder, "out");
  let result: ExtractionResult | null = null;
  let error: unknown = null;
  try {
    result = await extractZips({ archives, dir, signal });
  } catch (thrown) {
    error = thrown;
  }
  const left = readdirSync(folder).filter((name) => name !== "out" && !name.endsWith(".zip"));
  return { result, error, tree: existsSync(dir) ? treeOf(dir) : null, left };
}
