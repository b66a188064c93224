import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileProblem } from "../../errors.ts";
import { OutputFile } from "../../flows/files/output-file.ts";
import { normalValue } from "../../flows/rows/mapped-columns.ts";
import { normalHeader } from "../../flows/rows/row-form.ts";
import { parseJson } from "../../json.ts";
import { makeFolders } from "../../move-file.ts";
import { decodedText } from "../../text.ts";
import type { App } from "../app/app.ts";
import { type MapFilePlace, readMapFile } from "./map-file.ts";
import { type MappedInput, mapFilePlaces } from "./map-files.ts";

/** Answers as the file has them. */
interface SavedAnswers {
  readonly columns?: ReadonlyMap<string, string>;
  readonly values?: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly encoding?: string | undefined;
  /** By the name of a workbook. */
  readonly sheets?: ReadonlyMap<string, string>;
}

type Texts = Readonly<Record<string, string>>;

/** Writes answers next to the sheet or to `--map-file`, else to the profile; other entries stay. */
export async function saveAnswers(app: App, input: MappedInput, answers: SavedAnswers): Promise<void> {
  const places = await mapFilePlaces(app, input);
  const [near, own] = [places[0]!, places.at(-1)!];
  try {
    await addTo(near, answers);
  } catch (error) {
    const problem = fileProblem((error as Error).cause);
    if (own === near || (problem?.kind !== "denied" && problem?.kind !== "place")) throw error;
    makeFolders(dirname(own.path), 0o700);
    await addTo(own, answers);
    await app.io.note(app.io.visible(`Cannot write ${near.name}: ${problem.why}. Saved in ${own.name}.`));
  }
}

async function addTo(place: MapFilePlace, answers: SavedAnswers): Promise<void> {
  const stored = existsSync(place.path) ? await storedFields(place) : {};
  const { columns, values = {}, encoding, sheets, ...others } = stored;
  const all = { ...values };
  for (const [field, some] of answers.values ?? [])
    all[field] = withEntries(all[field], some, normalValue) ?? {};
  const fields = {
    columns: withEntries(columns, answers.columns, normalHeader),
    values: Object.keys(all).length === 0 ? undefined : all,
    encoding: answers.encoding ?? encoding,
    sheets: withEntries(sheets, answers.sheets, (name) => name),
    ...others,
  };
  const file = await OutputFile.begin(place.path, true, "catalogue-map");
  await file.write(`${JSON.stringify(fields, null, 2)}\n`);
  await file.commit();
}

interface StoredFields {
  readonly columns?: Texts;
  readonly values?: Record<string, Texts>;
  readonly encoding?: string;
  readonly sheets?: Texts;
}

/** The content of a file, which the user may have edited while the question was open. Throws UsageError. */
async function storedFields(place: MapFilePlace): Promise<StoredFields> {
  await readMapFile(place);
  return parseJson(decodedText(await readFile(place.path))) as StoredFields;
}

/** The entries, with those that are added in place of the same ones. */
function withEntries(
  own: Texts | undefined,
  added: ReadonlyMap<string, string> | undefined,
  normal: (name: string) => string,
): Texts | undefined {
  if (added === undefined || added.size === 0) return own;
  const names = new Set([...added.keys()].map(normal));
  const others = Object.entries(own ?? {}).filter(([name]) => !names.has(normal(name)));
  return Object.fromEntries([...others, ...added]);
}
