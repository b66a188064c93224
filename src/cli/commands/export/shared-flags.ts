import { type Command, Option } from "commander";
import { UsageError } from "../../context/errors.ts";

/** The flags of all modes as commander hands them over. */
export interface RawSharedFlags {
  out?: string;
  role?: string[];
}

/** What every export needs to know. */
export interface SharedFlags {
  /** The file as typed; null for standard output, or for the default of the mode. */
  readonly out: string | null;
  /** Asset roles, sorted and without duplicates; null for all. */
  readonly roles: readonly string[] | null;
}

/** Adds the flags of all modes. */
export const withSharedFlags = (one: Command): Command =>
  one
    .option("--out <FILE>", "file to write, or - for standard output (--yes replaces an existing file)")
    .addOption(roleFlag());

/** `--role`, which may be repeated. */
export const roleFlag = (): Option =>
  new Option("--role <R,...>", "only images of these roles, e.g. source,tryon").argParser(
    (value: string, earlier: string[] = []) => [...earlier, value],
  );

/** Checks what commander cannot check by itself. Throws UsageError. */
export const readSharedFlags = ({ out, role }: RawSharedFlags): SharedFlags => ({
  out: readOut(out),
  roles: readRoles(role),
});

function readOut(out: string | undefined): string | null {
  if (out === undefined || out === "-") return null;
  if (out.trim() !== "") return out;
  throw new UsageError("--out is empty", {
    param: "--out",
    hint: "Choose a file, for example --out catalogue.ndjson, or - for standard output.",
  });
}

/**
 * The roles, sorted and without duplicates; null for all. New roles may appear (Asset, `role`), so the service decides
 * which are valid.
 */
export function readRoles(given: readonly string[] | undefined): readonly string[] | null {
  if (given === undefined) return null;
  const roles = given.flatMap((list) => list.split(",")).map((role) => role.trim());
  if (!roles.includes("")) return [...new Set(roles)].sort();
  throw new UsageError(`invalid --role ${JSON.stringify(given.join(","))}: a role is empty`, {
    param: "--role",
    hint: "Separate roles with commas, for example --role source,tryon.",
  });
}
