import { join } from "node:path";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { isObject } from "../../json.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { homeFolder } from "../settings/home-folder.ts";
import { profileFileName } from "../settings/profile-names.ts";
import { profileInUse } from "../settings/settings.ts";
import { type MapFile, toMapFile } from "./map-file.ts";

type Asker = Pick<App, "globals" | "context">;

/** The path of a file in the folder of the profile in use; null without usable settings. */
export async function profilePlace({ globals, context }: Asker, fileName: string): Promise<string | null> {
  const profile = await orUnset(profileInUse(globals, context));
  return profile && join(await homeFolder(context), "profiles", profileFileName(profile.name), fileName);
}

/** The answers that an earlier version has kept in the settings of the profile. */
export async function oldAnswers({ globals, context }: Asker, { kind }: Vocabulary): Promise<MapFile[]> {
  const { name, settings } = (await orUnset(profileInUse(globals, context))) ?? {};
  const kept: unknown = kind === "import" ? settings : settings?.mappings?.[kind];
  const { columns, values, encoding } = isObject(kept) ? kept : {};
  const text = JSON.stringify({ columns, values, encoding, sheets: settings?.sheets });
  return text === "{}" ? [] : [toMapFile(text, `profile ${name}`)];
}

/** Null without usable settings, which are not needed for known columns. */
const orUnset = <Found>(found: Promise<Found>): Promise<Found | null> =>
  found.catch((error: unknown) => {
    if (error instanceof UsageError) return null;
    throw error;
  });
