import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type ColumnMap, columnOf } from "../../../flows/import/columns/csv-columns.ts";
import { OutputFile } from "../../../flows/outputs/output-file.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { profileName } from "../../settings/settings.ts";

/** The columns saved in a profile: headers as `normalHeader` returns them, and their fields. */
export interface SavedColumns {
  /** The profile in use. */
  readonly profile: string;
  readonly columns: ColumnMap;
  /** Adds columns, and replaces those that are already saved. */
  save(columns: ColumnMap): Promise<void>;
}

/** The saved columns of the current profile. Throws UsageError for a bad config file or an unknown field. */
export async function savedColumns({
  globals,
  context: { env, pid, random },
}: Pick<App, "globals" | "context">): Promise<SavedColumns> {
  const profiles = await readProfiles(env);
  const { name } = profileName(globals, env, profiles);
  const saved = Object.entries(profiles.find(name)?.columns ?? {});
  for (const [column, field] of saved) {
    if (typeof field === "string" && columnOf(field).kind !== "unknown") continue;
    const message = `unknown field ${JSON.stringify(field)} for the column ${JSON.stringify(column)} of profile ${name} in the config file ${profiles.path}`;
    throw new UsageError(message, {
      code: "invalid_config",
      hint: "Correct the field or remove the column.",
    });
  }
  return {
    profile: name,
    columns: new Map(saved),
    save: (columns) => save(profiles.path, name, columns, `config-${pid}-${random().toString(36).slice(2)}`),
  };
}

/**
 * Replaces the config file in one step. Reads it again first, because another process may have written it, and keeps
 * unknown keys.
 */
async function save(path: string, profile: string, columns: ColumnMap, unfinished: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const config = asObject(JSON.parse(await readFile(path, "utf8").catch(emptyWhenMissing)));
  const profiles = asObject(config.profiles);
  const own = Object.hasOwn(profiles, profile) ? asObject(profiles[profile]) : {};
  const saved = {
    ...own,
    columns: Object.fromEntries([...Object.entries(asObject(own.columns)), ...columns]),
  };
  const all = Object.fromEntries([...Object.entries(profiles), [profile, saved]]);
  const file = await OutputFile.begin(path, true, unfinished, 0o600);
  await file.write(`${JSON.stringify({ ...config, profiles: all }, null, "\t")}\n`);
  await file.commit();
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const emptyWhenMissing = (error: NodeJS.ErrnoException): string => {
  if (error.code === "ENOENT") return "{}";
  throw error;
};
