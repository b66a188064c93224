// The files of mappings that a command reads, and where the answers of the user are written.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { isObject } from "../../json.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { homeFolder } from "../settings/home-folder.ts";
import { profileFileName } from "../settings/profile-names.ts";
import { profileInUse } from "../settings/settings.ts";
import type { MapFile, MapFilePlace } from "./map-file.ts";

const fileName = "catalogue.map.json";

type Asker = Pick<App, "globals" | "context">;

/** A file of rows, as typed, and the file of `--map-file`. */
export interface MappedInput {
  readonly file: string;
  readonly mapFile?: string | undefined;
}

/** Where mappings of a file may be, the most special first; the last one is in the folder of the profile. */
export async function mapFilePlaces({ globals, context }: Asker, { file, mapFile }: MappedInput) {
  const { cwd } = context;
  const beside = file === "-" ? fileName : join(dirname(file), fileName);
  const profile = await orUnset(profileInUse(globals, context));
  const own = profile && join(await homeFolder(context), "profiles", profileFileName(profile.name), fileName);
  const names = [...(mapFile === undefined ? [beside, fileName] : [mapFile]), ...(own === null ? [] : [own])];
  const isForFolder = (name: string) => mapFile === undefined && name === beside && name !== fileName;
  return [...new Set(names)].map(
    (name): MapFilePlace => ({ name, path: resolve(cwd, name), isForFolder: isForFolder(name) }),
  );
}

/** The mappings that a command knows without asking, the most special first. Throws UsageError. */
export async function loadMapFiles(app: Asker, input: MappedInput, words: Vocabulary): Promise<MapFile[]> {
  const files = [...(await readMapFiles(app, input)), ...(await oldAnswers(app, words))];
  if (files.length === 0) return [];
  const { mappingFor } = await import("./map-file.ts");
  return files.map((file) => ({ ...file, ...mappingFor(file, words) }));
}

/** The files as they are written, for all commands. Throws UsageError. */
export async function readMapFiles(app: Asker, input: MappedInput): Promise<MapFile[]> {
  const places = await mapFilePlaces(app, input);
  const found = places.filter(({ name, path }) => name === input.mapFile || existsSync(path));
  if (found.length === 0) return [];
  const { readMapFile } = await import("./map-file.ts");
  return Promise.all(found.map(readMapFile));
}

/** The answers that an earlier version has kept in the settings of the profile. */
export async function oldAnswers({ globals, context }: Asker, { kind }: Vocabulary): Promise<MapFile[]> {
  const { name, settings } = (await orUnset(profileInUse(globals, context))) ?? {};
  const kept: unknown = kind === "import" ? settings : settings?.mappings?.[kind];
  const { columns, values, encoding } = isObject(kept) ? kept : {};
  const text = JSON.stringify({ columns, values, encoding, sheets: settings?.sheets });
  return text === "{}" ? [] : [(await import("./map-file.ts")).toMapFile(text, `profile ${name}`)];
}

/** Null without usable settings, which are not needed for known columns. */
const orUnset = <Found>(found: Promise<Found>): Promise<Found | null> =>
  found.catch((error: unknown) => {
    if (error instanceof UsageError) return null;
    throw error;
  });
