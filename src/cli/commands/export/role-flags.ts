import { type Command, Option } from "commander";
import { didYouMean } from "../../../contract/did-you-mean.ts";
import { assetRoles } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import type { ReviewFilter } from "../../../flows/export/reviews.ts";
import { UsageError, withHint } from "../../context/errors.ts";
import { conflict } from "../../flags/usage-error.ts";
import { named, several } from "../../flags/values.ts";

// Which images an export has: `--role`, `--approved` and `--not-rejected`, of rows, files and mirrors.

/** `--role`, which may be repeated. */
export const roleFlag = (): Option =>
  new Option("--role <R,...>", "only images of these roles, e.g. source,tryon").argParser(several);

export interface RawReviewFlags {
  approved?: true | undefined;
  notRejected?: true | undefined;
  decisions?: string[] | undefined;
}

/** Which generated images are meant, and the files of decisions. */
export interface ReviewFlags {
  readonly filter: ReviewFilter | null;
  readonly decisions: readonly string[];
}

/** `--approved`, `--not-rejected` and `--decisions` */
export const withReviewFlags = (made: Command): Command =>
  made
    .option("--approved", "of generated images, only those that a review approved (cat tasks review)")
    .option("--not-rejected", "of generated images, all but those that a review rejected")
    .option(
      "--decisions <FILE>",
      "decisions of a gallery, CSV or XLSX, besides those of this profile (repeatable)",
      several,
    );

/** Reads these flags. Throws UsageError. */
export function readReviewFlags({ approved, notRejected, decisions = [] }: RawReviewFlags): ReviewFlags {
  if (approved && notRejected) throw conflict("--approved", "--not-rejected");
  const hint = "Choose a file of decisions, for example --decisions looks.decisions.csv.";
  for (const file of decisions)
    if (named("--decisions", file, hint) === "-")
      throw new UsageError("--decisions does not read standard input", { param: "--decisions", hint });
  return { filter: approved ? "approved" : notRejected ? "not-rejected" : null, decisions };
}

/** The same for an export that keeps no decisions. */
export function readReviewFilter(raw: RawReviewFlags): ReviewFlags {
  const flags = readReviewFlags(raw);
  if (flags.filter !== null || flags.decisions.length === 0) return flags;
  throw new UsageError("--decisions needs --approved or --not-rejected", {
    param: "--decisions",
    hint: "Add one of them.",
  });
}

/** Sorted roles, each once; null for all. The service judges them: new ones may appear (Asset, `role`). */
export function readRoles(typed: readonly string[] | undefined): readonly string[] | null {
  if (typed === undefined) return null;
  const roles = typed.flatMap((list) => list.split(",")).map((role) => role.trim());
  if (!roles.includes("")) return [...new Set(roles)].sort();
  throw new UsageError(`invalid --role ${JSON.stringify(typed.join(","))}: a role is empty`, {
    param: "--role",
    hint: "Separate roles with commas, for example --role source,tryon.",
  });
}

/** The error of a request, with the known roles as a hint if a role was rejected. */
export function withRoleHint(error: unknown, roles: readonly string[] | null): unknown {
  if (!(error instanceof CatError) || error.status !== 400 || !/^role\b/.test(error.param ?? ""))
    return error;
  const known: readonly string[] = assetRoles;
  const near = (roles ?? [])
    .filter((role) => !known.includes(role))
    .flatMap((role) => didYouMean(role, known));
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Known roles: ${known.join(", ")}.`;
  return withHint(error, hint);
}
