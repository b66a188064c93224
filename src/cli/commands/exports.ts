import type { Command } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Operations } from "../../contract/operations.ts";
import type { ExportJob } from "../../contract/resources/exports.ts";
import { isJobEnded } from "../../contract/value-sets.ts";
import { exportAgain, failedJob } from "../../flows/export/frozen/frozen-summary.ts";
import { counted } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { command, group } from "../flags/command.ts";
import { maxBytesFlag, timeoutFlag } from "../flags/common-flags.ts";
import { conflict } from "../flags/usage-error.ts";
import { rejectNoPath, resourceId } from "../flags/values.ts";
import { outputFormat } from "../output/output-names.ts";
import { fieldColumns, replyFields } from "../resources/forms.ts";
import { getResource } from "../resources/get-resource.ts";
import { listSentJobs, rememberStatus } from "../resources/sent-jobs.ts";
import { watchJob } from "../resources/watch-job.ts";
import type { DownloadFlags } from "./export/save-artifact.ts";

/** `cat exports`: the frozen exports started from this machine, and their files. */
export const exportsCommand = (app: App): Command =>
  group(
    "exports",
    "View the exports that the service prepares for you, and save their files. " +
      "To start one: cat export --manifest or cat export --zip.",
    [listCommand(app), getCommand(app), watchCommand(app), downloadCommand(app)],
  );

const listCommand = (app: App): Command =>
  listSentJobs(app, {
    kind: "export",
    verb: "started",
    preposition: "on",
    rows: "products",
    variant: "format",
    examples: [
      ["list the last 25 exports", "cat exports list"],
      [
        "download the last export again",
        "cat exports download $(cat exports list --limit 1 --json | jq -r .id)",
      ],
    ],
  });

/** Common to `get` and `watch`. */
const exportJob = {
  noun: "export",
  operation: operations.exports.get,
  columns: fieldColumns<ExportJob>(replyFields(operations.exports.get), ["id", "format", "status"]),
  onSeen: rememberStatus("export"),
};

const getCommand = (app: App): Command =>
  getResource<Operations["exports"]["get"]>(app, {
    ...exportJob,
    summary: "show the status of an export",
    about: "Show the status of an export, with a new URL of its file, which is valid for one hour.",
    examples: [
      ["show an export", "cat exports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
      ["print a new URL of its file", "cat exports get ID --json | jq -r .url"],
    ],
  });

const watchCommand = (app: App): Command =>
  watchJob<Operations["exports"]["get"]>(app, {
    ...exportJob,
    about: "Exits with 0 if it completed, and with 7 if it failed.",
    isEnded: isJobEnded,
    toProgress: (job) => ({
      step: "preparing the export",
      done: isJobEnded(job) ? 1 : 0,
      total: 1,
      note: counted(job.total_assets, "image"),
    }),
    unit: "job",
    async reportEnd({ io }, job, next) {
      if (job.status === "failed") throw failedJob(job, exportAgain(job.format));
      await io.note(`To save its file: ${next("download", job.id)}`);
    },
    examples: [
      ["find the ID of the last export", "cat exports list --limit 1"],
      ["wait at most 10 minutes for the export to complete", "cat exports watch ID --timeout 10m"],
    ],
  });

const downloadCommand = (app: App): Command =>
  command("download", {
    summary: "save the file of an export",
    usage: "ID [flags]",
    about:
      "Save the manifest or ZIP of an export, and wait for it while the service prepares it. " +
      "A download that was stopped continues when you run the command again.",
    examples: [
      ["save the file of an export", "cat exports download 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --out catalogue.zip"],
      ["extract the images of the last export", "cat exports download ID --extract images"],
    ],
  })
    .argument("<ID>", "ID of the export")
    .option("--out <FILE>", "file to write (default: ID.jsonl or ID.zip; --yes replaces an existing file)")
    .option("--extract <DIR>", "extract the images of a ZIP into a new folder")
    .addOption(maxBytesFlag())
    .option("--no-label", "with --extract: save images as sent, without the label of AI-generated ones")
    .addOption(timeoutFlag())
    .action(async (text: string, flags: DownloadFlags) => {
      const id = resourceId(text, "export");
      rejectNoPath("--out", flags.out, "file, for example --out catalogue.zip");
      if (flags.out !== undefined) outputFormat("--out", flags.out, ["zip", "jsonl"]);
      rejectNoPath("--extract", flags.extract, "folder, for example --extract images");
      if (flags.out !== undefined && flags.extract !== undefined) throw conflict("--extract", "--out");
      (await import("./export/flags.ts")).rejectLabel(flags, "--extract DIR");
      await (await import("./export/save-artifact.ts")).saveArtifact(app, id, flags);
    });
