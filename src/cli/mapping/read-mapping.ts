import { type EncodingName, encodingName } from "../../flows/rows/encoding.ts";
import { type Mapping, noMapping, withValues } from "../../flows/rows/mapped-columns.ts";
import type { ReadOptions } from "../../flows/rows/open-rows.ts";
import { type FoundEncodings, UnreadableInput } from "../../flows/rows/problem.ts";
import type { RowForm } from "../../flows/rows/row-form.ts";
import type { Source } from "../../flows/rows/source.ts";
import { utf8Chunks } from "../../flows/rows/text.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { listFirst } from "../../flows/words.ts";
import { truncated } from "../../text.ts";
import type { App } from "../app/app.ts";
import { canAsk } from "../app/prompts.ts";
import { noteNumericReferences } from "../files/open-input.ts";
import {
  type FileHead,
  type FileMapping,
  type MappedFile,
  readHead,
  shownLength,
  usedValues,
} from "./file-head.ts";
import type { AskedFile } from "./guesses.ts";
import type { MapFile } from "./map-file.ts";
import { rejectForObjects } from "./map-flags.ts";

/** The maximum number of columns or values that a note lists. */
const named = 20;

/**
 * How a file is read: by flags, then files of mappings, else answers of the user, who may save them. Throws
 * an InterruptError when a question is not answered.
 */
export async function readMapping(app: App, given: MappedFile): Promise<FileMapping> {
  const [mapping] = await readMappings(app, [given]);
  return mapping!;
}

/** The same for several files, about which one question is asked. */
export async function readMappings(app: App, given: readonly MappedFile[]): Promise<FileMapping[]> {
  const known: (FileMapping | AskedFile)[] = [];
  const noted = new Set<string>();
  const noteOnce: Note = async (text) => {
    if (!noted.has(text)) await app.io.note(app.io.visible(text));
    noted.add(text);
  };
  for (const file of given) known.push(await toMapping(app, file, noteOnce));
  const asked = known.flatMap((file) => ("mapping" in file ? file : []));
  const answers = asked.length === 0 ? [] : await (await import("./ask-mapping.ts")).askMappings(app, asked);
  const mappings = known.map((file, index) =>
    withUnsaved("mapping" in file ? answers[asked.indexOf(file)]! : file, given[index]!),
  );
  for (const [index, { source, form }] of given.entries()) {
    if (source.sheet === undefined) continue;
    const read = form(mappings[index]!);
    const findReferenceColumn = (header: readonly string[]) =>
      read.columns(header, 1, () => {}).referenceColumn;
    await noteNumericReferences(app, source.sheet, findReferenceColumn);
  }
  return mappings;
}

/** The mapping with the parts that a later command does not know from the same files of mappings. */
const withUnsaved = (mapping: FileMapping, { flags, mapFiles }: MappedFile): FileMapping => {
  const everywhere = mapFiles.filter(({ isForFolder }) => !isForFolder);
  return { ...mapping, unsaved: { here: without(flags, mapFiles), elsewhere: without(mapping, everywhere) } };
};

function without({ map, values }: Mapping, files: readonly MapFile[]): Mapping {
  const known = files.reduce(withMapping, noMapping);
  const others = (some: ReadonlyMap<string, string>, of: ReadonlyMap<string, string> | undefined) =>
    new Map([...some].filter(([name, to]) => of?.get(name) !== to));
  return {
    map: others(map, known.map),
    values: new Map([...values].map(([field, some]) => [field, others(some, known.values.get(field))])),
  };
}

/** Both mappings; the first one wins. */
const withMapping = (first: Mapping, more: Mapping): Mapping => ({
  map: new Map([...more.map, ...first.map]),
  values: withValues(first.values, more.values),
});

/** Notes a text about how a file is read; one that several files share only once. */
type Note = (text: string) => Promise<void>;

async function toMapping(app: App, given: MappedFile, note: Note): Promise<FileMapping | AskedFile> {
  const { flags, mapFiles, words, source, form } = given;
  if (source.format === "ndjson") rejectForObjects(given.file, flags, words);
  // Rows may be typed at the terminal themselves.
  const asks = given.file !== "-" && canAsk(app);
  const found = await notUtf8(source, given.read);
  const { encoding, encodings } = await toEncoding(given, found, { asks, note });
  const file = { ...given, read: { ...given.read, encoding } };
  const head = await readHead(file, form(mapFiles.reduce<Mapping>(withMapping, flags)));
  if (head === null) return { map: flags.map, values: flags.values, encoding: given.read.encoding };
  let mapping: Mapping = { map: flags.map, values: flags.values };
  for (const mapFile of mapFiles) mapping = await withMapFile(file, head, { mapFile, first: mapping, note });
  const isSure = encodings === null && isKnown(head, words);
  return asks && !isSure ? { file, mapping: { ...mapping, encoding }, encodings } : { ...mapping, encoding };
}

/** Whether nothing of the columns and values of a file is to be asked about. */
function isKnown({ fields, unknown }: FileHead, words: Vocabulary): boolean {
  if (words.needsOne) return fields.size > 0;
  const hasChoices = [...fields].some((name) => {
    const field = words.toValuedField(name);
    return field !== null && words.listChoices(field) !== undefined;
  });
  return unknown.size === 0 && !hasChoices;
}

/** Reads a file until it is found not to be UTF-8; null for UTF-8, and where a flag names the encoding. */
async function notUtf8(source: Source, read: ReadOptions): Promise<FoundEncodings | null> {
  if (read.encoding !== undefined || source.format === "workbook") return null;
  try {
    for await (const _ of utf8Chunks(source.read(), undefined));
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    return error.encodings ?? null;
  }
  return null;
}

/** The encoding of the flag or a mapping file, else the likeliest ones, to ask. `found`: null for UTF-8. */
async function toEncoding(
  { read, mapFiles }: MappedFile,
  found: FoundEncodings | null,
  { asks, note }: { asks: boolean; note: Note },
): Promise<{ encoding: EncodingName; encodings: FoundEncodings | null }> {
  const asGiven = { encoding: read.encoding, encodings: null };
  if (found === null) return asGiven;
  const saved = mapFiles.find(({ encoding }) => encoding !== undefined);
  const [likeliest] = found.names;
  // A file of another country is not read as the last one was.
  const isOtherEncoding =
    found.isSure &&
    (likeliest === undefined || found.shownAs(likeliest) !== found.shownAs(saved?.encoding ?? likeliest));
  if (saved === undefined || isOtherEncoding)
    return asks && likeliest !== undefined ? { encoding: likeliest, encodings: found } : asGiven;
  const { encoding, name } = saved;
  await note(
    `The file is not UTF-8: read as ${encodingName(encoding!)} ("${found.shownAs(encoding!)}"), from ${name}.`,
  );
  return { encoding, encodings: null };
}

const show = (text: string) => truncated(text, shownLength);

/** Adds what a file of mappings has for this header, and notes what the first rows use of it. */
async function withMapFile(
  file: MappedFile,
  { header, mapped }: FileHead,
  { mapFile, first, note }: { mapFile: MapFile; first: Mapping; note: Note },
): Promise<Mapping> {
  const { form, words } = file;
  // Later objects may have fields that the first ones lack.
  const columns = (header === null ? [...mapFile.map.keys()] : [...mapped]).filter((name) => {
    const field = mapFile.map.get(name);
    return field !== undefined && words.isField(field) && !first.map.has(name);
  });
  const map = new Map(first.map);
  for (const name of columns) map.set(name, mapFile.map.get(name)!);
  const fields = fieldsWith(form({ ...first, map }), header, words);
  const values = toValues(mapFile, fields, words);
  const spelled = (name: string) => show(mapFile.spelling.get(name) ?? name);
  const noteAs = (what: string, entries: readonly string[]) =>
    entries.length === 0 ? undefined : note(`${what} from ${mapFile.name}: ${listFirst(entries, named)}.`);
  const used = [...mapped].filter((name) => columns.includes(name));
  await noteAs(
    "Columns",
    used.map((name) => `${spelled(name)} = ${map.get(name)}`),
  );
  await noteAs("Values", await valueTexts(file, { map, values }, { header, fields, first, spelled }));
  return { map, values: withValues(first.values, values) };
}

/** The fields that a header has; null for objects and for a list without a header. */
function fieldsWith(
  form: RowForm,
  header: FileHead["header"],
  { needsOne = false }: Vocabulary,
): ReadonlySet<string | null> | null {
  if (header === null) return null;
  const { names } = form.columns(header, 1, () => {});
  return needsOne && names.every((name) => name === null) ? null : new Set(names);
}

const toValues = ({ values }: Mapping, fields: ReturnType<typeof fieldsWith>, words: Vocabulary) =>
  new Map(
    [...values].filter(
      ([field]) =>
        fields === null || [...fields].some((name) => name !== null && words.toValuedField(name) === field),
    ),
  );

/** The values that the first rows of a file have and the first mapping does not, as texts for a note. */
async function valueTexts(
  file: MappedFile,
  { map, values }: Mapping,
  at: {
    header: FileHead["header"];
    fields: ReturnType<typeof fieldsWith>;
    first: Mapping;
    spelled: (value: string) => string;
  },
): Promise<string[]> {
  const more = new Map(
    [...values].map(([field, some]) => {
      const own = at.first.values.get(field);
      return [field, new Map([...some].filter(([value]) => !own?.has(value)))];
    }),
  );
  // The lines of a list have no field.
  const isList = at.header !== null && at.fields === null;
  const used = isList ? more : await usedValues(file, (read) => file.form({ map, values: read }), more);
  return [...used.values()].flatMap((some) =>
    Array.from(some, ([value, to]) => `${at.spelled(value)} = ${to || "no value"}`),
  );
}
