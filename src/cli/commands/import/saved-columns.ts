import { type ColumnMap, columnOf } from "../../../flows/import/columns.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { profileName } from "../../settings/settings.ts";
import { updateProfile } from "../../settings/update-config.ts";

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
  context,
}: Pick<App, "globals" | "context">): Promise<SavedColumns> {
  const profiles = await readProfiles(context.env);
  const { name } = profileName(globals, context.env, profiles);
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
    save: (columns) =>
      updateProfile(context, name, (own) => ({
        ...own,
        columns: Object.fromEntries([...Object.entries(asObject(own.columns)), ...columns]),
      })),
  };
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
