import { stat } from "node:fs/promises";
import { checkZip } from "../archive/check-zip.ts";
import { artifactPath } from "./fetch-artifacts.ts";
import { type FrozenJob, sizeOf } from "./frozen-summary.ts";

/**
 * How many images the ZIPs of jobs lack: the service counts them when it creates a job, and products may be deleted before
 * it writes the ZIP. `folder` has the artifacts; an earlier process may have moved one to its target, or extracted all.
 */
export async function missingImages(
  jobs: readonly Pick<FrozenJob, "id" | "job" | "target">[],
  folder: string,
): Promise<number> {
  let missing = 0;
  for (const { id, job, target } of jobs) {
    const total = job?.total_assets ?? 0;
    const saved = artifactPath(folder, id);
    const isMoved = (await stat(saved).catch(() => null)) === null;
    if (isMoved && (await stat(target.path)).isDirectory()) {
      const all = jobs.reduce((sum, one) => sum + (one.job?.total_assets ?? 0), 0);
      return Math.max(0, all - (await sizeOf(target)).files);
    }
    const { files } = await checkZip(isMoved ? target.path : saved);
    missing += Math.max(0, total - files);
  }
  return missing;
}
