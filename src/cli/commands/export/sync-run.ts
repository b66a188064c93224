import { stat } from "node:fs/promises";
import { CatError } from "../../../errors.ts";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { leftOutText } from "../../../flows/export/reviews.ts";
import { LocalFolder } from "../../../flows/export/sync/local-folder.ts";
import { mirrorFiles } from "../../../flows/export/sync/mirror-state.ts";
import type { SyncSummary } from "../../../flows/export/sync/result.ts";
import { type SyncOutcome, syncCatalogue } from "../../../flows/export/sync/sync.ts";
import type { SyncInput } from "../../../flows/export/sync/sync-run.ts";
import { byteText, counted, countList, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/recorded-runs.ts";
import { runFlow } from "../../app/run-flow.ts";
import { LearnedValues } from "../../completion/learned-values.ts";
import { PartialError, UsageError } from "../../context/errors.ts";
import { unlabeledLine } from "../../flags/common-flags.ts";
import { mirrorDecisions, openReviews } from "./known-decisions.ts";
import { mirrorFolder, serviceOfMirror } from "./mirror-place.ts";
import type { MirrorBucketFlags } from "./open-bucket.ts";
import { withRoleHint } from "./role-flags.ts";

/** The input of one command: a run, or the merge of indexes. */
export interface SyncFlags extends SyncInput {
  readonly merge: boolean;
  readonly decisions: readonly string[];
  readonly bucket: MirrorBucketFlags;
}

const mostListed = 20;

/** Brings a mirror up to date, and reports it. Throws what stopped it. */
export async function runMirror(app: App, flags: SyncFlags): Promise<void> {
  const files = mirrorFiles(flags.shard);
  const runId = flags.dryRun
    ? newRunId(app.context.clock.now())
    : await app.runs.begin("mirror", flags.folder);
  const isInBucket = isBucketAddress(flags.folder);
  const store = isInBucket
    ? (await import("./open-bucket.ts")).openBucketMirror(app, flags.folder, { flags: flags.bucket, files })
    : new LocalFolder(await mirrorFolder(app, flags.folder), files.work);
  const { baseUrl, keyFingerprint } = await serviceOfMirror(app);
  const reviews = await openReviews(app, flags.decisions);
  let listed = 0;
  const learned = new LearnedValues();
  const outcome = await runFlow(app, (host) => {
    if (!flags.dryRun) app.runs.starts(runId);
    return syncCatalogue(flags, {
      ...host,
      runId,
      baseUrl,
      keyFingerprint,
      reviews,
      readDecisions: mirrorDecisions(app, flags.folder),
      holder: toHolder(app),
      store,
      onLarge: () => app.context.keepHeapSmall?.(),
      onRows: (rows) => learned.addRows(rows),
      onFailed({ reference, product_id, asset_id }, { message }) {
        if (listed++ < mostListed) host.onNote(`${reference ?? product_id}  ${asset_id}  ${message}`);
      },
    });
  });
  app.runs.counted(outcome.summary);
  await learned.keep(app);
  const isComplete = outcome.stopped === undefined && outcome.summary.failed === 0;
  await reportSync(app, flags, { ...outcome, stopped: withRoleHint(outcome.stopped, flags.roles) });
  if (isInBucket && flags.shard !== null && isComplete && !flags.dryRun) await joinShards(app, flags);
}

/** This process, as the lock of a folder names it. */
const toHolder = ({ context: { clock, pid } }: App) => ({ pid, since: new Date(clock.now()).toISOString() });

/** Joins the indexes of all shards in a bucket, if this one was the last. */
async function joinShards(app: App, { folder, shard, bucket: flags }: SyncFlags): Promise<void> {
  const { clock, interrupt: signal } = app.context;
  const { closeRound, mergeWork } = await import("../../../flows/export/sync/merge.ts");
  const { openBucketMirror } = await import("./open-bucket.ts");
  const files = { ...mirrorFiles(null), work: mergeWork };
  const store = openBucketMirror(app, folder, { flags, files });
  const input = { folder, runId: newRunId(clock.now()), among: shard!.of };
  await closeRound(input, { store, clock, holder: toHolder(app), signal });
}

/** Joins the indexes of all shards in a folder. */
export async function runMerge(app: App, { folder }: SyncFlags): Promise<void> {
  const { clock } = app.context;
  const path = await mirrorFolder(app, folder);
  if (!(await stat(path).catch(() => null))) {
    const hint = "Check the path. The folder has the mirrors of all shards.";
    throw new UsageError(`${app.io.visible(folder)} does not exist`, { param: "DIR", hint });
  }
  const { mergeShards, mergeWork } = await import("../../../flows/export/sync/merge.ts");
  const store = new LocalFolder(path, mergeWork);
  const input = { folder, runId: newRunId(clock.now()) };
  const summary = (await mergeShards(input, { store, clock, holder: toHolder(app) }))!;
  if (app.io.json) return app.io.jsonData(summary);
  const { total, index_file } = summary;
  await app.io.note(app.io.visible(`Merged the indexes of ${counted(total, "image")} into ${index_file}.`));
}

/** Reports a run, and sets or throws what the program exits with. */
async function reportSync(app: App, flags: SyncFlags, { summary, stopped }: SyncOutcome): Promise<void> {
  const { added, changed, failed, total } = summary;
  const error = stopped instanceof CatError ? stopped : null;
  if (stopped !== undefined && error?.type !== "partial") {
    // The same command does not resume before its key or its flags are right.
    const isOfCommand =
      ["conflict", "input"].includes(error?.type ?? "") || [400, 401, 403].includes(error?.status ?? 0);
    const done = counted(added + changed, "image");
    const how = "To resume, run the same command again (nothing is downloaded twice).";
    if (!flags.dryRun && !isOfCommand) await app.io.note(`Stopped: ${done} downloaded. ${how}`);
    throw stopped;
  }
  if (app.io.json) await app.io.jsonData(summary);
  else for (const line of reportLines(flags, summary)) await app.io.note(app.io.visible(line));
  if (stopped !== undefined) throw stopped;
  if (failed === 0) return;
  throw new PartialError(`${grouped(failed)} of ${counted(total, "image")} failed`, {
    code: "images_failed",
    hint: stepsAfterFailures(summary).join(" "),
  });
}

function reportLines(flags: SyncFlags, summary: SyncSummary): string[] {
  const { total, added, changed, renamed, removed, failed, unchanged, bytes, duration_ms } = summary;
  const leftOut = leftOutText(summary);
  const omitted = leftOut === null ? [] : [`  ${leftOut}`];
  const counts = countList({ added, changed, renamed, removed, failed, unchanged });
  const what = counts === "" ? "" : `: ${counts}`;
  if (flags.dryRun) {
    return [
      `${flags.folder} would have ${counted(total, "image")}${what}. Nothing was written (--dry-run).`,
      ...omitted,
    ];
  }
  const size = bytes === null || bytes === 0 ? "" : ` (${byteText(bytes)} downloaded)`;
  const seconds = (duration_ms / 1000).toFixed(1);
  const lines = [
    `Mirrored ${counted(total, "image")} in ${flags.folder} in ${seconds} s${what}${size}.`,
    ...omitted,
  ];
  if (summary.unlabeled !== undefined) lines.push(unlabeledLine(summary.unlabeled));
  if (removed > 0 && !flags.delete)
    lines.push("  Files of removed images were kept. To delete them, add --delete.");
  return [...lines, ...stepsAfterFailures(summary)];
}

/** The next steps for images that failed: the same command would reject those that are too large again. */
function stepsAfterFailures({ failed, failures = [] }: SyncSummary): string[] {
  const large = failures.filter(({ code }) => code === "file_too_large").length;
  return [
    ...(failed > large ? ["To try failed images again, run the same command again."] : []),
    ...(large > 0 ? ["To accept larger images, add --max-bytes, for example --max-bytes 200MB."] : []),
  ];
}
