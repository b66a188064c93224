import { Option } from "commander";
import { didYouMean } from "../../../contract/did-you-mean.ts";
import { assetRoles } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { UsageError, withHint } from "../../context/errors.ts";
import { several } from "../../flags/values.ts";

// Which images an export has: `--role` and `--approved`, of rows, files and mirrors.

/** `--role`, which may be repeated. */
export const roleFlag = (): Option =>
  new Option("--role <R,...>", "only images of these roles, e.g. source,tryon").argParser(several);

/** `--approved` */
export const approvedFlag = (): Option =>
  new Option("--approved", "skip generated images that a review has rejected (cat tasks review)");

/**
 * The roles, sorted and without duplicates; null for all. New roles may appear (Asset, `role`), so the service decides
 * which are valid.
 */
export function readRoles(typed: readonly string[] | undefined): readonly string[] | null {
  if (typed === undefined) return null;
  const roles = typed.flatMap((list) => list.split(",")).map((role) => role.trim());
  if (!roles.includes("")) return [...new Set(roles)].sort();
  throw new UsageError(`invalid --role ${JSON.stringify(typed.join(","))}: a role is empty`, {
    param: "--role",
    hint: "Separate roles with commas, for example --role source,tryon.",
  });
}

/** The error of a request, with the known roles as a hint if the service rejected a role; unchanged otherwise. */
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
