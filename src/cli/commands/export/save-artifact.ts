import { resolve } from "node:path";
import type { ExportJob } from "../../../contract/resources/export.ts";
import { checkExtractFolder } from "../../../flows/export/archive/extract-folder.ts";
import { downloadJob, type SavedJob } from "../../../flows/export/frozen/download-job.ts";
import type { FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import { patienceOf } from "../../../flows/run/stage.ts";
import { byteText, counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { rememberStatus } from "../../resources/sent-jobs.ts";
import { imagesMissing, ofImages } from "./frozen-report.ts";
import { checkOutFile } from "./out-file.ts";

export interface DownloadFlags {
  readonly id: string;
  /** As typed; null for the default, or with `--extract`. */
  readonly out: string | null;
  readonly extract: string | null;
  readonly timeoutMs: number | null;
  readonly maxBytes: number;
}

/** Saves the file of an export and reports it; exits with 7 if the export failed. */
export async function saveArtifact(app: App, flags: DownloadFlags): Promise<void> {
  const { clock, interrupt } = app.context;
  const began = clock.now();
  const client = await app.client();
  const patience = patienceOf("download", flags.timeoutMs, { clock, signal: interrupt });
  try {
    const saved = await runFlow(app, ({ onProgress, onNote, pause }) =>
      downloadJob(
        {
          id: flags.id,
          extract: flags.extract !== null,
          maxBytes: flags.maxBytes,
          onProgress,
          onNote,
          target: (format) => {
            pause();
            return targetOf(app, flags, format);
          },
          onSeen: (job) => rememberStatus("export")(app, job),
        },
        { client, signal: patience.signal },
      ),
    );
    await report(app, flags, saved, clock.now() - began);
    if (saved.missing > 0) throw imagesMissing(saved.missing, "Start a new export: cat export --zip");
  } finally {
    patience.release();
  }
}

async function targetOf(
  app: App,
  { id, out, extract }: DownloadFlags,
  format: ExportJob["format"],
): Promise<FrozenTarget> {
  if (extract === null) {
    const name = out ?? `${id}${format === "zip" ? ".zip" : ".jsonl"}`;
    return checkOutFile(app, name, { left: "nothing was downloaded" });
  }
  if (format !== "zip")
    throw new UsageError("--extract needs a ZIP, and this export is a manifest", {
      param: "--extract",
      hint: "Use --out to save the manifest.",
    });
  const path = resolve(app.context.cwd, extract);
  await checkExtractFolder(path);
  return { name: extract, path, replaces: true };
}

async function report(
  app: App,
  { extract }: DownloadFlags,
  { job, name, bytes, files, missing }: SavedJob,
  duration_ms: number,
): Promise<void> {
  if (app.io.json) {
    const { id, status, total_assets } = job;
    const assets = { assets: total_assets - missing, ...(missing > 0 && { missing }) };
    await app.io.jsonData({ jobs: [{ id, status }], ...assets, files: [{ path: name, bytes }], duration_ms });
    return;
  }
  const images = missing === 0 ? "" : `${ofImages(job.total_assets - missing, missing)}, `;
  const contents = `${images}${extract === null ? "" : `${counted(files, "file")}, `}`;
  const took = `${(duration_ms / 1000).toFixed(1)} s`;
  await app.io.note(app.io.visible(`Saved ${name} (${contents}${byteText(bytes)}) in ${took}.`));
}
