import { type EncodingName, encodingName } from "../../flows/rows/encoding.ts";
import { missingColumns } from "../../flows/rows/find-header.ts";
import { type FileAnswers, type Mapping, withValues } from "../../flows/rows/mapped-columns.ts";
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
import type { SavedMapping } from "./saved-mapping.ts";

/** The maximum number of columns or values that a note lists. */
const named = 20;

/**
 * How a file is read: by the flags, then by the file of mappings, then by what a run of the same content was
 * told, else by what the profile remembers (unless the header has the field itself), then by answers of the
 * user, who may save them. Throws an InterruptError when a question is not answered.
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
  const asked = known.flatMap((file) => ("saved" in file ? file : []));
  const answers = asked.length === 0 ? [] : await (await import("./ask-mapping.ts")).askMappings(app, asked);
  const mappings = known.map((file, index) =>
    withoutMapFile("saved" in file ? answers[asked.indexOf(file)]! : file, given[index]!.mapFile),
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

/** The mapping without what a later command knows from the same file of mappings. */
function withoutMapFile(mapping: FileMapping, mapFile: MapFile | null): FileMapping {
  if (mapFile === null) return mapping;
  const { map, values } = mapping.unsaved ?? mapping;
  const others = (some: ReadonlyMap<string, string>, known: ReadonlyMap<string, string> | undefined) =>
    new Map([...some].filter(([name, to]) => known?.get(name) !== to));
  const ofFields = new Map([...values].map(([name, some]) => [name, others(some, mapFile.values.get(name))]));
  return { ...mapping, unsaved: { map: others(map, mapFile.map), values: ofFields } };
}

/** Notes a text about how a file is read; one that several files share only once. */
type Note = (text: string) => Promise<void>;

/** What is known without the user, or what to ask. */
async function toMapping(app: App, given: MappedFile, note: Note): Promise<FileMapping | AskedFile> {
  const { flags, mapFile, words, source } = given;
  if (source.format === "ndjson") rejectForObjects(given.file, flags, words);
  // Rows may be typed at the terminal themselves.
  const asks = given.file !== "-" && canAsk(app);
  const found = await notUtf8(source, given.read);
  // The text of a file that is not UTF-8 is read as its run has read it.
  const keptMapping = found === null ? undefined : await given.kept?.(undefined);
  const { encoding, encodings } = keptMapping
    ? { encoding: keptMapping.encoding, encodings: null }
    : await toEncoding(app, given, found, { asks, note });
  const file = { ...given, read: { ...given.read, encoding } };
  const all = mapFile === null ? flags : withMapping(flags, mapFile);
  const head = await findHead(app, file, all);
  if (head === null) return { map: flags.map, values: flags.values, encoding: given.read.encoding };
  const { typed, noteAll } =
    mapFile === null ? { typed: flags, noteAll: async () => {} } : withMapFile(file, head, mapFile, note);
  const hasChoices = [...head.fields].some((name) => {
    const field = words.toValuedField(name);
    return field !== null && words.listChoices(field) !== undefined;
  });
  const isKnown = words.needsOne ? head.fields.size > 0 : head.unknown.size === 0 && !hasChoices;
  if (isKnown && encodings === null && !keptMapping) {
    await noteAll();
    return { map: typed.map, values: typed.values, encoding };
  }
  const kept = keptMapping === undefined ? await given.kept?.(given.read.encoding) : keptMapping;
  await noteAll();
  if (kept) return withAnswers(typed, kept);
  const { savedMapping } = await import("./saved-mapping.ts");
  const saved = await savedMapping(app, words);
  const mapping = { ...(await withSaved(file, head, { typed, saved, note })), encoding, unsaved: typed };
  return asks ? { file, mapping, saved, encodings } : mapping;
}

/** Reads a file to its end, unless it is found not to be UTF-8; null for any other, and where a flag names the encoding. */
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

/** The head of a file, which may be below its first line: found by the columns that the profile remembers, if they are needed. */
async function findHead(app: App, file: MappedFile, all: Mapping): Promise<FileHead | null> {
  const { form, words, source } = file;
  const head = await readHead(file, form(all));
  const header = head?.header ?? null;
  if (header === null || source.format !== "csv" || missingColumns(header, form(all)).length === 0)
    return head;
  const { rememberedColumns: savedColumns } = await import("./saved-mapping.ts");
  const saved = await savedColumns(app, words);
  return saved.size === 0
    ? head
    : readHead(file, form(all), form({ ...all, map: new Map([...saved, ...all.map]) }));
}

/**
 * The encoding of the flag, or the one that the profile remembers for a file that is not UTF-8. Without them
 * the likeliest one, and the others, for a question. `found`: null for UTF-8.
 */
async function toEncoding(
  app: App,
  { read, words }: MappedFile,
  found: FoundEncodings | null,
  { asks, note }: { asks: boolean; note: Note },
): Promise<{ encoding: EncodingName; encodings: FoundEncodings | null }> {
  const asGiven = { encoding: read.encoding, encodings: null };
  if (found === null) return asGiven;
  const { savedEncoding } = await import("./saved-mapping.ts");
  const saved = await savedEncoding(app, words);
  const [likeliest] = found.names;
  // A file of another country is not read as the last one was.
  const isOther =
    found.isSure &&
    (likeliest === undefined || found.shownAs(likeliest) !== found.shownAs(saved?.encoding ?? likeliest));
  if (saved === null || isOther)
    return asks && likeliest !== undefined ? { encoding: likeliest, encodings: found } : asGiven;
  await note(
    `The file is not UTF-8: read as ${encodingName(saved.encoding)} ("${found.shownAs(saved.encoding)}"), remembered from earlier files (profile ${saved.profile}).`,
  );
  return { encoding: saved.encoding, encodings: null };
}

/** Both mappings; the first one wins. */
const withMapping = (first: Mapping, more: Mapping): Mapping => ({
  map: new Map([...more.map, ...first.map]),
  values: withValues(first.values, more.values),
});

/** The mapping of a run, unless the flags or the file of mappings say otherwise. */
const withAnswers = (typed: Mapping, answers: FileAnswers): FileMapping => ({
  ...withMapping(typed, {
    map: new Map(Object.entries(answers.columns)),
    values: new Map(
      Object.entries(answers.values).map(([field, some]) => [field, new Map(Object.entries(some))]),
    ),
  }),
  encoding: answers.encoding,
  answers,
});

/** Says what is read by a mapping that the command line does not show. */
async function noteAs(note: Note, what: string, from: string, entries: readonly string[]): Promise<void> {
  if (entries.length > 0) await note(`${what} ${from}: ${listFirst(entries, named)}.`);
}

const show = (text: string) => truncated(text, shownLength);

/** Adds what the file of mappings has for the columns of this header; `noteAll` says what the first rows use of it. */
function withMapFile(file: MappedFile, { header, mapped }: FileHead, mapFile: MapFile, note: Note) {
  const { flags, form, words } = file;
  // Later objects may have fields that the first ones lack.
  const columns = (header === null ? [...mapFile.map.keys()] : [...mapped]).filter((name) => {
    const field = mapFile.map.get(name);
    return field !== undefined && words.isField(field) && !flags.map.has(name);
  });
  const map = new Map(flags.map);
  for (const name of columns) map.set(name, mapFile.map.get(name)!);
  const fields = fieldsWith(form({ ...flags, map }), header, words);
  const values = toValues(mapFile, fields, words);
  const noteAll = async () => {
    const from = `from ${mapFile.name}`;
    const spelled = (name: string) => show(mapFile.spelling.get(name) ?? name);
    const used = [...mapped].filter((name) => columns.includes(name));
    await noteAs(
      note,
      "Columns",
      from,
      used.map((name) => `${spelled(name)} = ${map.get(name)}`),
    );
    await noteAs(
      note,
      "Values",
      from,
      await valueTexts(file, { map, values }, { header, fields, first: flags, spelled }),
    );
  };
  return { typed: { map, values: withValues(flags.values, values) }, noteAll };
}

/** The fields that a header has; null for objects, each of which may have other fields, and for a list without a header. */
function fieldsWith(
  form: RowForm,
  header: FileHead["header"],
  { needsOne = false }: Vocabulary,
): ReadonlySet<string | null> | null {
  if (header === null) return null;
  const { names } = form.columns(header, 1, () => {});
  return needsOne && names.every((name) => name === null) ? null : new Set(names);
}

/** The values of a mapping for these fields. */
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

/** Adds what the profile remembers, and says so. */
async function withSaved(
  file: MappedFile,
  { header, fields, unknown }: FileHead,
  { typed, saved, note }: { typed: Mapping; saved: SavedMapping; note: Note },
): Promise<Mapping> {
  const { form, words } = file;
  const toFields = (map: Mapping["map"]) => fieldsWith(form({ ...typed, map }), header, words);
  const from = `remembered from earlier files (profile ${saved.profile})`;
  // A saved column must not repeat a field that the header or --map has.
  const map = new Map(typed.map);
  const columns: string[] = [];
  for (const [name, { title }] of unknown) {
    const field = saved.map.get(name);
    if (field === undefined || !words.isField(field)) continue;
    const taken =
      toFields(map) ?? new Set([...fields, ...map.values()].filter((field) => field !== "ignore"));
    if (taken.has(field)) continue;
    columns.push(`${show(title)} = ${field}`);
    map.set(name, field);
  }
  await noteAs(note, "Columns", from, columns);
  const fieldsNow = toFields(map);
  const values = toValues(saved, fieldsNow, words);
  const at = {
    header,
    fields: fieldsNow,
    first: typed,
    spelled: (name: string) => show(saved.spelling.get(name) ?? name),
  };
  await noteAs(note, "Values", from, await valueTexts(file, { map, values }, at));
  return { map, values: withValues(typed.values, values) };
}
