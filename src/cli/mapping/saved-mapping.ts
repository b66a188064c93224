import { normalValue, type ValueMap } from "../../flows/rows/value-map.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { readProfiles } from "../settings/profiles.ts";
import { profileName } from "../settings/settings.ts";
import { updateProfile } from "../settings/update-config.ts";
import type { Mapping } from "./map-flags.ts";

/** The columns and values saved in a profile. */
export interface SavedMapping extends Mapping {
  /** The profile in use. */
  readonly profile: string;
  /** Adds columns and values, and replaces those that are already saved. */
  save(mapping: Mapping): Promise<void>;
}

/** What the current profile remembers. Throws UsageError for a bad config file or an unknown field. */
export async function savedMapping(
  { globals, context }: Pick<App, "globals" | "context">,
  words: Vocabulary,
): Promise<SavedMapping> {
  const profiles = await readProfiles(context.env);
  const { name } = profileName(globals, context.env, profiles);
  const { columns = {}, values = {} } = profiles.find(name) ?? {};
  const wrong = (what: string) =>
    new UsageError(`${what} of profile ${name} in the config file ${profiles.path}`, {
      code: "invalid_config",
      hint: "Correct it or remove it.",
    });
  for (const [column, field] of Object.entries(columns)) {
    if (typeof field === "string" && words.isField(field)) continue;
    throw wrong(`unknown field ${JSON.stringify(field)} for the column ${JSON.stringify(column)}`);
  }
  const read = new Map<string, Map<string, string>>();
  for (const [field, some] of Object.entries(values)) {
    const entries = Object.entries(asObject(some));
    const unread = entries.find(([, to]) => typeof to !== "string");
    if (unread !== undefined || !words.valued.includes(field))
      throw wrong(`invalid values ${JSON.stringify(field)}`);
    read.set(field, new Map(entries.map(([from, to]) => [normalValue(from), to as string])));
  }
  return {
    profile: name,
    map: new Map(Object.entries(columns)),
    values: read,
    save: (mapping) =>
      updateProfile(context, name, (own) => ({
        ...own,
        ...(mapping.map.size > 0 && {
          columns: { ...asObject(own.columns), ...Object.fromEntries(mapping.map) },
        }),
        ...(mapping.values.size > 0 && { values: withSaved(asObject(own.values), mapping.values) }),
      })),
  };
}

function withSaved(saved: Record<string, unknown>, values: ValueMap): Record<string, unknown> {
  const all = { ...saved };
  for (const [field, some] of values) all[field] = { ...asObject(all[field]), ...Object.fromEntries(some) };
  return all;
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
