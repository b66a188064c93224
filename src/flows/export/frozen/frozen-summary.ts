import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../../contract/limits.ts";
import type { ExportJob } from "../../../contract/resources/exports.ts";
import { CatError } from "../../../errors.ts";
import { whereLinksLead } from "../../files/file-names.ts";
import { inOneLine } from "../../outputs/row-outcome.ts";
import type { LeftOutCount } from "../reviews.ts";
import type { FrozenRun, FrozenTarget } from "./frozen-run.ts";

export interface FrozenSummary {
  run_id: string;
  products: number;
  assets: number;
  /** Images that the service did not write; only if any. */
  missing?: number;
  /** Images that were not extracted because of their decisions; only with a filter. */
  rejected?: number;
  not_reviewed?: number;
  /** Generated images that were extracted without the label, because they cannot have it; only if any. */
  unlabeled?: number;
  files: { path: string; bytes: number }[];
  jobs: { id: string; status: string }[];
  duration_ms: number;
}

/** A frozen export that ended, and what stopped it before its end, if anything did. */
export interface FrozenOutcome {
  readonly summary: FrozenSummary;
  readonly stopped: unknown;
  /** Whether the same command resumes the run, which was stopped. */
  readonly isResumable: boolean;
  /** The number of jobs that the export needs. */
  readonly parts: number;
  /** Products that were deleted while the export was created. */
  readonly deleted: number;
  /** Images that the ZIPs lack. */
  readonly missing: number;
  /** Images that were not extracted because of their decisions; null without a filter. */
  readonly leftOut: LeftOutCount | null;
  /** Generated images that were extracted without the label. */
  readonly unlabeled: number;
  /** The number of extracted files; null without `--extract`. */
  readonly extracted: number | null;
  /** Until when the image URLs of a manifest are valid, in Unix milliseconds; null for other exports. */
  readonly urlsUntil: number | null;
}

/** A job of the run, as last seen; null without a response. */
export interface FrozenJob {
  readonly id: string;
  readonly job: ExportJob | null;
  /** Its products, in order. */
  readonly ids: readonly string[];
  readonly target: FrozenTarget;
}

/** Sums up a run, which ended so. `duration_ms` is for the caller to fill in. */
export async function toOutcome(
  { input, run, plan, targets, memory }: FrozenRun,
  ended: Pick<FrozenOutcome, "deleted" | "missing" | "leftOut" | "unlabeled" | "stopped" | "isResumable"> & {
    readonly jobs: readonly FrozenJob[];
  },
): Promise<FrozenOutcome> {
  const { jobs, deleted, missing, leftOut, unlabeled, stopped, isResumable } = ended;
  const omitted = missing + (leftOut?.rejected ?? 0) + (leftOut?.not_reviewed ?? 0);
  const completed = jobs.flatMap(({ job, ids }) => (job?.status === "completed" ? [{ job, ids }] : []));
  const written =
    stopped === undefined
      ? await Promise.all(targets.map((target) => measure(target, memory.places.delivered)))
      : [];
  const began = Math.min(...completed.map(({ job }) => Date.parse(job.created_at)));
  return {
    summary: {
      run_id: run.id,
      products: completed.reduce((sum, { ids }) => sum + ids.length, 0),
      assets: completed.reduce((sum, { job }) => sum + job.total_assets, 0) - omitted,
      ...(missing > 0 && { missing }),
      ...leftOut,
      ...(unlabeled > 0 && { unlabeled }),
      files: written.map(({ name, bytes }) => ({ path: name, bytes })),
      jobs: jobs.map(({ id, job }) => ({ id, status: job?.status ?? "processing" })),
      duration_ms: 0,
    },
    stopped,
    isResumable,
    parts: Math.ceil(plan.length / limits.exportProducts),
    deleted,
    missing,
    leftOut,
    unlabeled,
    extracted: input.extract ? written.reduce((sum, { files }) => sum + files, 0) : null,
    urlsUntil: input.format === "manifest" && Number.isFinite(began) ? began + limits.signedUrlMs : null,
  };
}

/** The bytes of a file, or of a folder with its number of files. `delivered` has the lengths of uploads. */
export async function measure(
  { path, name, upload }: FrozenTarget,
  delivered: FrozenRun["memory"]["places"]["delivered"] = {},
): Promise<{ name: string; files: number; bytes: number }> {
  if (upload !== undefined) return { name, files: 1, bytes: Number(delivered[await whereLinksLead(path)]) };
  const stats = await stat(path);
  if (!stats.isDirectory()) return { name, files: 1, bytes: stats.size };
  let [files, bytes] = [0, 0];
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    files++;
    bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return { name, files, bytes };
}

/** The error of an export job that failed at the service: exit 7. The hint says how to get a new one. */
export function failedJob(
  { id, error }: ExportJob,
  hint = "Run the command again for a new export.",
): CatError {
  const why = error === null ? "" : `: ${inOneLine(error.message)} (${error.code})`;
  return new CatError(`export ${id} failed at the service${why}`, {
    type: "internal",
    code: error?.code ?? "export_failed",
    hint,
  });
}

/** The next step for a failed export that is only watched or downloaded, which creates none. */
export const exportAgain = (format: ExportJob["format"]): string =>
  `Start a new export, for example: cat export --${format}`;
