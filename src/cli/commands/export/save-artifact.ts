import { resolve } from "node:path";
import type { ExportJob } from "../../../contract/resources/exports.ts";
import { checkExtractFolder } from "../../../flows/export/archive/extract-zips.ts";
import { downloadJob, type SavedJob } from "../../../flows/export/frozen/download-job.ts";
import type { FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import { startTimeLimit } from "../../../flows/run/stage.ts";
import { byteText, counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { checkOutFile } from "../../files/out-files.ts";
import { defaultMaxBytes, unlabeledLine } from "../../flags/common-flags.ts";
import { warn } from "../../output/io.ts";
import { rejectFileName } from "../../output/output-names.ts";
import { rememberStatus } from "../../resources/sent-jobs.ts";
import { imagesMissing, ofImages } from "./frozen-report.ts";

export interface DownloadFlags {
  /** As typed; the default has the name of the ID. */
  readonly out?: string;
  readonly extract?: string;
  readonly timeout?: number;
  readonly maxBytes?: number;
  readonly label: boolean;
}

/** Saves the file of an export and reports it; exits with 7 if the export failed. */
export async function saveArtifact(app: App, id: string, flags: DownloadFlags): Promise<void> {
  const { clock, interrupt } = app.context;
  const { extract, timeout = null, maxBytes = defaultMaxBytes, label } = flags;
  const began = clock.now();
  const client = await app.client();
  const patience = startTimeLimit("download", timeout, { clock, signal: interrupt });
  try {
    const saved = await runFlow(app, ({ onProgress, onNote, pause }) => {
      const target = (format: ExportJob["format"]) => {
        pause();
        return toTarget(app, id, flags, format);
      };
      const onSeen = (job: ExportJob) => rememberStatus("export")(app, job);
      const job = { id, extract: extract !== undefined, label, maxBytes, onProgress, onNote, target, onSeen };
      return downloadJob(job, { client, signal: patience.signal });
    });
    await report(app, extract, saved, clock.now() - began);
    await warnOfUnknown(app, saved.unknown);
    if (saved.missing > 0) throw imagesMissing(saved.missing, "Start a new export: cat export --zip");
  } finally {
    patience.release();
  }
}

async function toTarget(
  app: App,
  id: string,
  { out, extract }: DownloadFlags,
  format: ExportJob["format"],
): Promise<FrozenTarget> {
  if (extract === undefined) {
    const name = out ?? `${id}${format === "zip" ? ".zip" : ".jsonl"}`;
    return checkOutFile(app, name, {
      formats: [format === "zip" ? "zip" : "jsonl"],
      left: "nothing was downloaded",
    });
  }
  if (format !== "zip")
    throw new UsageError("--extract needs a ZIP, and this export is a manifest", {
      param: "--extract",
      hint: "Use --out to save the manifest.",
    });
  rejectFileName("--extract", extract, app.context);
  const path = resolve(app.context.cwd, extract);
  await checkExtractFolder(path);
  return { name: extract, path, replaces: true };
}

async function report(
  app: App,
  extract: string | undefined,
  { job, name, bytes, files, missing, unlabeled, unknown }: SavedJob,
  duration_ms: number,
): Promise<void> {
  if (app.io.json) {
    const { id, status, total_assets } = job;
    const assets = { assets: total_assets - missing, ...(missing > 0 && { missing }) };
    const asSent = unlabeled + unknown > 0 && { unlabeled: unlabeled + unknown };
    const written = { ...assets, ...asSent, files: [{ path: name, bytes }] };
    await app.io.jsonData({ jobs: [{ id, status }], ...written, duration_ms });
    return;
  }
  const images = missing === 0 ? "" : `${ofImages(job.total_assets - missing, missing)}, `;
  const contents = `${images}${extract === undefined ? "" : `${counted(files, "file")}, `}`;
  const took = `${(duration_ms / 1000).toFixed(1)} s`;
  await app.io.note(app.io.visible(`Saved ${name} (${contents}${byteText(bytes)}) in ${took}.`));
  if (unlabeled > 0) await app.io.note(unlabeledLine(unlabeled));
}

const warnOfUnknown = async (app: App, unknown: number): Promise<void> =>
  unknown === 0
    ? undefined
    : warn(
        app,
        `${counted(unknown, "file")} extracted as sent: exports do not show how ${unknown === 1 ? "it was" : "they were"} made`,
        "For the AI label, use cat export --zip --extract; if it is not wanted, add --no-label.",
      );
