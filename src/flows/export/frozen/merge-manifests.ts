import { open, rm } from "node:fs/promises";
import { OutputError } from "../../files/output-error.ts";
import { linesOf, productIdOf } from "./check-manifest.ts";

/** A manifest of a job, and the products that it was asked for, in order. */
export interface ManifestPart {
  readonly path: string;
  readonly ids: readonly string[];
}

/**
 * Joins the manifests of several jobs into one at `path`, in the order of the catalogue and without duplicates, with each line
 * as the service wrote it. Only one manifest is kept in memory at a time. Throws OutputError; `name` is the file in it.
 */
export async function mergeManifests(
  parts: readonly ManifestPart[],
  { path, name, onProgress }: { path: string; name: string; onProgress: (products: number) => void },
): Promise<void> {
  try {
    await rm(path, { force: true });
    const file = await open(path, "wx");
    try {
      let done = 0;
      for (const part of parts) {
        const lines = new Map<string, string>();
        for await (const line of linesOf(part.path)) {
          const id = productIdOf(line)!;
          if (!lines.has(id)) lines.set(id, line);
        }
        await file.appendFile(part.ids.map((id) => `${lines.get(id)}\n`).join(""));
        done += part.ids.length;
        onProgress(done);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}
