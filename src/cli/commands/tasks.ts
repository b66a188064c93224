import { resolve } from "node:path";
import type { Command } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Operations } from "../../contract/operations.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import { CatError } from "../../errors.ts";
import { isBucketAddress, nameIn } from "../../flows/bucket/address.ts";
import type { WatchedTasks } from "../../flows/generate/watch-tasks.ts";
import { checkEncodingName } from "../../flows/rows/encoding.ts";
import { startTimeLimit } from "../../flows/run/stage.ts";
import { counted, grouped } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { defaultConcurrency, runFlow } from "../app/run-flow.ts";
import type { Thumbnail } from "../app/thumbnails.ts";
import { PartialError, UsageError } from "../context/errors.ts";
import { type BucketFlags, bucketOption, checkBucketFlags, withBucketFlags } from "../flags/bucket-flags.ts";
import { type CommandTexts, command, group } from "../flags/command.ts";
import {
  defaultMaxBytes,
  labelFlag,
  maxBytesFlag,
  readLabel,
  readMaxBytes,
  thumbnailFlag,
  timeoutFlag,
  unlabeledLine,
} from "../flags/common-flags.ts";
import {
  type RawPrintFlags,
  type ResourceForm,
  readPrintFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { named, resourceId } from "../flags/values.ts";
import type { Printing } from "../output/table.ts";
import { fieldColumns, namedFields, replyFields } from "../resources/forms.ts";
import { getResource } from "../resources/get-resource.ts";
import { listTasksCommand, readReferences } from "./list-tasks.ts";

/** `cat tasks`: the generations of the organization. */
export const tasksCommand = (app: App): Command =>
  group("tasks", "View the tasks that generate images, follow them, save their images, and record reviews.", [
    listTasksCommand(app),
    getCommand(app),
    watchCommand(app),
    saveCommand(app),
    reviewCommand(app),
  ]);

const columns = fieldColumns<Task>(replyFields(operations.tasks.get), [
  "id",
  "type",
  "status",
  "product_id",
  "created_at",
]);

const getCommand = (app: App): Command =>
  getResource<Operations["tasks"]["get"]>(app, {
    noun: "task",
    summary: "show a task",
    about: "Show one task. The signed URL of its image expires after one hour.",
    operation: operations.tasks.get,
    columns,
    examples: [["print the URL of the image", "cat tasks get ID --json | jq -r .output_image.url"]],
  });

interface FollowFlags extends RawPrintFlags, BucketFlags {
  /** A run of this machine, whose tasks are meant as well. */
  run?: string;
  save?: string;
  maxBytes?: number;
  label: boolean;
  timeout?: number;
  thumbnail?: boolean;
}

const tasksBy = (name: string, save: string, texts: CommandTexts): Command =>
  withBucketFlags(
    command(name, texts)
      .argument("[ID...]", "IDs of tasks")
      .option("--run <RUN>", "all tasks of a run of cat tryon or cat beautify on this machine")
      .addOption(bucketOption("--save <DIR>", save))
      .addOption(maxBytesFlag())
      .addOption(labelFlag()),
  ).optionsGroup("Flags:");

const watchCommand = (app: App): Command =>
  withPrintFlags(
    tasksBy("watch", "save the images in a folder, or s3://BUCKET/PREFIX", {
      summary: "wait until tasks have ended, and show them",
      usage: "[ID...] [flags]",
      about:
        "Wait until tasks have ended, and show them. Without an ID or --run: all tasks that are queued or running.",
      examples: [["follow a run and save its images", "cat tasks watch --run RUN --save images"]],
    })
      .addOption(thumbnailFlag())
      .addOption(timeoutFlag()),
  ).action((ids: string[], flags: FollowFlags) =>
    followTasks(app, ids, flags, { maxBytes: readMaxBytes(flags), wait: true }),
  );

const saveCommand = (app: App): Command =>
  withPrintFlags(
    tasksBy("save", "folder for the images, or s3://BUCKET/PREFIX", {
      summary: "save the images of tasks",
      usage: "[ID...] --save DIR [flags]",
      about:
        "Save the images of tasks that have succeeded. Images that are saved already are not downloaded again.",
      examples: [["save the images of a run", "cat tasks save --run RUN --save images"]],
    }),
  ).action((ids: string[], flags: FollowFlags) => {
    const { run, save, maxBytes = defaultMaxBytes } = flags;
    if (save === undefined)
      throw new UsageError("missing --save", { param: "--save", hint: "Add --save DIR." });
    if (ids.length === 0 && run === undefined) {
      const hint = "Use IDs of tasks, or --run RUN.";
      throw new UsageError("missing argument: ID", { param: "ID", hint });
    }
    return followTasks(app, ids, flags, { maxBytes, wait: false });
  });

interface ReviewCommandFlags extends BucketFlags {
  sheet?: string;
  encoding?: string;
  reviewer?: string;
  mirror?: string;
}

const reviewCommand = (app: App): Command =>
  withBucketFlags(
    command("review", {
      summary: "record which images are approved or rejected",
      usage: "DECISIONS [flags]",
      about:
        "Record the decisions of a file that a gallery has saved, for cat export --approved and other commands of this " +
        "profile. --mirror hands them on to the machine that mirrors. Of two decisions about an image the later one counts.",
      examples: [
        ["record a review", "cat tasks review decisions.csv"],
        ["hand it on to a mirror", "cat tasks review decisions.csv --mirror s3://shop/images"],
      ],
    })
      .argument("<DECISIONS>", "file of decisions, or - for standard input")
      .option("--sheet <NAME>", "sheet of a workbook (default: the one whose columns fit)")
      .option("--encoding <NAME>", "text encoding, e.g. windows-1252 (default: detects UTF-8 and UTF-16)")
      .option("--reviewer <NAME>", "who has decided (default: the account of this computer)")
      .addOption(
        bucketOption(
          "--mirror <DIR>",
          "add the decisions to decisions.csv of a mirror, or s3://BUCKET/PREFIX",
        ),
      ),
  ).action(async (file: string, flags: ReviewCommandFlags) => {
    const { sheet, encoding, reviewer, mirror } = flags;
    named("--reviewer", reviewer, "Use the name of the person, for example --reviewer Anna.");
    const read = { encoding: encoding === undefined ? undefined : checkEncodingName(encoding) };
    checkBucketFlags(mirror, flags);
    const handOn =
      mirror === undefined
        ? null
        : await (await import("./export/hand-on.ts")).openHandOn(app, mirror, flags);
    const { recordReviewFile } = await import("./generate/open-review.ts");
    await recordReviewFile(app, file, { reading: { sheet, read }, reviewer: reviewer?.trim(), handOn });
  });

type FollowedTask = Task & { output_file?: string; label?: boolean };

/** The form of followed tasks; tables show products by `references`, and saved files. */
const followedForm = (
  isSaved: boolean,
  references: ReadonlyMap<string, string>,
): ResourceForm<FollowedTask> => ({
  columns: [
    ...fieldColumns<Task>(replyFields(operations.tasks.get), ["id", "type", "status", "product_id"])
      .filter(({ name }) => name !== "failure_reason")
      .map((column) => ({ ...column, only: "csv" as const })),
    { name: "reference", value: (row) => references.get(row.product_id), only: "table" },
    { name: "status", value: ({ status }) => status, only: "table" },
    { name: "type", value: ({ type }) => type, only: "table", drop: "first" },
    { name: "output_file", value: (row) => row.output_file ?? null, ...(!isSaved && { only: "csv" }) },
    { name: "failure_reason", value: (row) => row.failure_reason?.code ?? null },
    { name: "label", value: (row) => row.label ?? null, only: "csv" },
    { name: "id", value: ({ id }) => id, only: "table" },
  ],
  fields: {
    fields: { ...replyFields(operations.tasks.get).fields, ...namedFields(["output_file", "label"]).fields },
    entries: null,
  },
});

/** Shows tasks, once they have ended with `wait`, and saves their images. */
async function followTasks(
  app: App,
  given: readonly string[],
  flags: FollowFlags,
  { maxBytes, wait }: { maxBytes: number; wait: boolean },
): Promise<void> {
  const { run, save, timeout, formulaGuard = true, excel } = flags;
  const references = new Map<string, string>();
  const beforeTable = (tasks: readonly Task[]) => readReferences(app, tasks, references);
  const printing = { ...readPrintFlags(flags, followedForm(save !== undefined, references)), beforeTable };
  const label = readLabel(flags);
  const typed = given.map((id) => resourceId(id, "task"));
  const { clock, interrupt } = app.context;
  const ofRun = run === undefined ? [] : await tasksOfRun(app, run);
  checkBucketFlags(save, flags);
  const place =
    save === undefined
      ? null
      : await (await import("../files/save-folder.ts")).openSavePlace(app, save, flags);
  await place?.check();
  const ids = typed.length === 0 && run === undefined ? null : [...new Set([...typed, ...ofRun])];
  const client = await app.client();
  const { watchTasks } = await import("../../flows/generate/watch-tasks.ts");
  const timeLimit = startTimeLimit("wait", timeout ?? null, { clock, signal: interrupt });
  try {
    const { signal } = timeLimit;
    const service = { client, clock, signal, newKey: () => "", concurrency: defaultConcurrency };
    const saveTo = place?.folder ?? null;
    const { generationsByTask } = await import("../../flows/generate/generation.ts");
    const state = saveTo === null ? null : await app.state();
    const { baseUrl } = await app.connection();
    const known = state === null ? () => undefined : generationsByTask(state, ["tryon", "beautify"]);
    const findReview = (taskId: string) => state?.decisions.of(baseUrl, taskId) ?? null;
    const watched = await runFlow(app, ({ onProgress }) =>
      watchTasks(
        { ids, known, findReview, saveTo, bucket: place?.bucket, wait, maxBytes, label },
        service,
        onProgress,
      ),
    );
    // The saved images are shown whatever could not be written.
    let unlisted: unknown;
    if (place !== null && watched.files.size > 0) {
      const { writeLists } = await import("../files/save-folder.ts");
      const again = "run the same command again";
      const csv = await (await import("../settings/csv-style.ts")).excelStyle(app, excel);
      await writeLists(place, watched.rows, { clock, formulaGuard, csv, again }).catch((error) => {
        unlisted = error;
      });
    }
    await report(app, { ...flags, typed, wait }, printing, { ...watched, unlisted });
  } finally {
    timeLimit.release();
  }
}

/** The IDs of the tasks of a run. Throws a CatError of type not_found where this machine has no such run. */
async function tasksOfRun(app: App, runId: string): Promise<string[]> {
  const { sentGenerations } = await import("../../flows/generate/generation.ts");
  const state = await app.state();
  const run = state.runs.get(runId);
  if (run === null || run.kind === "import") {
    throw new CatError(`unknown run ${JSON.stringify(runId)}`, {
      type: "not_found",
      code: "run_not_found",
      hint: "Use the run_id of a summary of cat tryon or cat beautify on this machine.",
    });
  }
  return [...sentGenerations(state, runId).values()].flatMap(({ taskId }) => taskId ?? []);
}

/** The error of a run whose tasks were queued: their IDs cannot be mistyped. */
const lostByService = (lost: number, all: number, run: string): CatError =>
  new CatError(
    `the service no longer has ${lost === all ? counted(all, "task") : `${grouped(lost)} of ${counted(all, "task")}`} of run ${run}`,
    {
      type: "not_found",
      code: "task_not_found",
      hint: "Check the base URL. If the service was restored or restarted, --fresh generates all images of the input again.",
    },
  );

async function report(
  app: App,
  { run, save, typed, wait, thumbnail = false }: FollowFlags & { typed: readonly string[]; wait: boolean },
  printing: Printing<FollowedTask>,
  { tasks, lost, files, labels, unlabeled, faults, unlisted, stopped }: WatchedTasks & { unlisted: unknown },
): Promise<void> {
  const rows = tasks.map((task): FollowedTask => {
    const file = files.get(task.id);
    if (file === undefined) return task;
    return { ...task, output_file: nameIn(save!, file), label: labels.get(task.id) ?? false };
  });
  await app.io.show(printing, rows);
  if (thumbnail && stopped === undefined) await showImages(app, { tasks, files }, { save, printing });
  if (tasks.length === 0 && lost.length === 0 && stopped === undefined) await app.io.note("No tasks found.");
  if (save !== undefined && tasks.length > 0) {
    const { savedLine } = await import("./generate/report.ts");
    await app.io.note(app.io.visible(savedLine(files.size, save)));
    if (unlabeled > 0) await app.io.note(unlabeledLine(unlabeled));
  }
  if (stopped !== undefined) throw stopped;
  rejectLost(lost, tasks.length, { run, typed });
  const [fault = unlisted] = faults.values();
  if (fault !== undefined) throw fault;
  const open = tasks.filter(({ status }) => status !== "succeeded" && status !== "failed").length;
  if (!wait && open > 0)
    await app.io.note(`${counted(open, "task")} not finished yet. To wait, use cat tasks watch.`);
  const failed = tasks.filter(({ status }) => status === "failed").length;
  if (failed > 0) throw new PartialError(`${grouped(failed)} of ${counted(tasks.length, "task")} failed`);
}

async function showImages(
  app: App,
  { tasks, files }: Pick<WatchedTasks, "tasks" | "files">,
  { save, printing }: { save: string | undefined; printing: Printing<FollowedTask> },
): Promise<void> {
  if (!app.context.stdout.isTTY) return;
  const { showThumbnails } = await import("../app/thumbnails.ts");
  const saveTo = save === undefined || isBucketAddress(save) ? null : resolve(app.context.cwd, save);
  const withImage = tasks.filter(({ output_image }) => output_image !== null);
  const pictures = withImage.map((task): Thumbnail => {
    const file = files.get(task.id) ?? null;
    return { caption: task.id, fetch: (fetcher) => fetcher.output(task, file, saveTo) };
  });
  await showThumbnails(app, pictures, { thumbnail: true, printing });
}

/** Throws for tasks that the service does not have. */
function rejectLost(
  lost: readonly string[],
  found: number,
  { run, typed }: { run: string | undefined; typed: readonly string[] },
): void {
  if (lost.length === 0) return;
  if (run !== undefined && !lost.some((id) => typed.includes(id)))
    throw lostByService(lost.length, lost.length + found, run);
  throw new CatError(`unknown task ${lost.join(", ")}`, {
    type: "not_found",
    code: "task_not_found",
    hint: "Check the ID: cat tasks list",
  });
}
