import { operations } from "../../../contract/operations.ts";
import type { ExportJob } from "../../../contract/resources/export.ts";
import { isJobEnded } from "../../../flows/export/frozen/frozen-summary.ts";
import { counted } from "../../../flows/words.ts";
import { rememberStatus } from "../../resources/remember-status.ts";
import { watchJob } from "../../resources/watch-job.ts";
import { exportColumns } from "./columns.ts";

/** `cat exports watch` */
export const watchCommand = watchJob<typeof operations.exports.get>({
  noun: "export",
  description: "Exits with 0 if it completed, and with 7 if it failed.",
  operation: operations.exports.get,
  columns: exportColumns,
  input: (id) => ({ export_id: id }),
  isEnded: isJobEnded,
  progressOf: (job: ExportJob) => ({
    step: "preparing the export",
    done: isJobEnded(job) ? 1 : 0,
    total: 1,
    note: counted(job.total_assets, "image"),
  }),
  unit: "job",
  onSeen: rememberStatus("export"),
  async reportEnd(app, job, next) {
    if (job.status === "failed") {
      const { exportAgain, failedJob } = await import("../../../flows/export/frozen/frozen-summary.ts");
      throw failedJob(job, exportAgain(job.format));
    }
    await app.io.note(`To save its file: ${next("download", job.id)}`);
  },
  examples: [
    ["find the ID of the last export", "cat exports list --limit 1"],
    ["wait at most 10 minutes for the export to complete", "cat exports watch ID --timeout 10m"],
  ],
});
