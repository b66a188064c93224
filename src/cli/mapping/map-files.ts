// The files of mappings that a command reads, and where the answers of the user are written.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { homeFolder } from "../settings/home-folder.ts";
import type { MapFile, MapFilePlace } from "./map-file.ts";

/** The name of a mapping next to a sheet, in the current folder and in that of the profile. */
export const mapFileName = "catalogue.map.json";

type Asker = Pick<App, "globals" | "context">;

/** A file of rows, as typed, and the file of `--map-file`. */
export interface MappedInput {
  readonly file: string;
  readonly mapFile?: string | undefined;
}

/** The files of mappings that a command may read or write for its inputs, which no output replaces. */
export const mapFileNames = (inputs: readonly MappedInput[]): string[] =>
  inputs.flatMap(({ file, mapFile }) => [join(dirname(file), mapFileName), mapFile ?? mapFileName]);

/** Where mappings of a file may be, the most special first; the last one is in the folder of the profile. */
export async function mapFilePlaces(asker: Asker, input: MappedInput): Promise<MapFilePlace[]> {
  const { profilePlace } = await import("./profile-mapping.ts");
  return placesOf(asker, input, await profilePlace(asker, mapFileName));
}

function placesOf({ context }: Asker, { file, mapFile }: MappedInput, own: string | null): MapFilePlace[] {
  const beside = file === "-" ? mapFileName : join(dirname(file), mapFileName);
  const names = [
    ...(mapFile === undefined ? [beside, mapFileName] : [mapFile]),
    ...(own === null ? [] : [own]),
  ];
  return [...new Set(names)].map((name) => ({
    name,
    path: resolve(context.cwd, name),
    isForFolder: mapFile === undefined && name === beside && name !== mapFileName,
    isChosen: name === mapFile,
  }));
}

/** The mappings that a command knows without asking, the most special first. Throws UsageError. */
export async function loadMapFiles(app: Asker, input: MappedInput, words: Vocabulary): Promise<MapFile[]> {
  const profile = await profileMapping(app);
  const written = await readFiles(app, input, profile);
  const files = profile === null ? written : [...written, ...(await profile.oldAnswers(app, words))];
  if (files.length === 0) return [];
  const { mappingFor } = await import("./map-file.ts");
  return files.map((file) => ({ ...file, ...mappingFor(file, words) }));
}

/** The files as they are written, for all commands. Throws UsageError. */
export const readMapFiles = async (app: Asker, input: MappedInput): Promise<MapFile[]> =>
  readFiles(app, input, await profileMapping(app));

async function readFiles(app: Asker, input: MappedInput, profile: ProfileMapping): Promise<MapFile[]> {
  const own = profile === null ? null : await profile.profilePlace(app, mapFileName);
  const found = placesOf(app, input, own).filter(({ path, isChosen }) => isChosen || existsSync(path));
  if (found.length === 0) return [];
  const { readMapFile } = await import("./map-file.ts");
  return Promise.all(found.map(readMapFile));
}

type ProfileMapping = typeof import("./profile-mapping.ts") | null;

/** Without settings and mappings, a first import does not load their reader. No home has none. */
async function profileMapping({ context }: Asker): Promise<ProfileMapping> {
  try {
    const home = await homeFolder(context);
    const hasSettings = ["config.json", "profiles"].some((name) => existsSync(join(home, name)));
    return hasSettings ? await import("./profile-mapping.ts") : null;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
