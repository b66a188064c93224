import { didYouMean } from "../../../contract/did-you-mean.ts";
import { assetRoles } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { withHint } from "../../context/errors.ts";

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
