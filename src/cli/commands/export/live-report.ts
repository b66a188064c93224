import { stat } from "node:fs/promises";
import type { LiveResult } from "../../../flows/export/live/export-live.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";

interface EndedExport {
  /** The file as typed and its path; null for standard output. */
  readonly out: string | null;
  readonly path: string | null;
  readonly runId: string;
  readonly result: LiveResult;
  readonly duration_ms: number;
}

/**
 * The summary: for people on stderr; with --json and a file, one object on stdout. With rows on stdout there is no such
 * object, because programs would take it for a row.
 */
export async function reportLive(app: App, ended: EndedExport): Promise<void> {
  const { out, path, runId, result, duration_ms } = ended;
  const { products, assets, deleted } = result;
  if (app.io.json) {
    if (path === null) return;
    const files = [{ path: out, bytes: (await stat(path)).size }];
    const more = deleted === 0 ? {} : { deleted };
    return app.io.jsonData({ run_id: runId, products, assets, ...more, files, jobs: [], duration_ms });
  }
  const what = `${counted(products, "product")} with ${counted(assets, "image")}`;
  const gone = deleted === 0 ? "" : ` (${counted(deleted, "product")} deleted)`;
  const where = out === null ? "" : ` to ${app.io.visible(out)}`;
  await app.io.note(`Exported ${what}${gone}${where} in ${(duration_ms / 1000).toFixed(1)} s.`);
}
