import { dirname, resolve } from "node:path";
import { type Command, Option } from "commander";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { type Mapping, normalValue, type ValueMap, valueEntries } from "../../flows/rows/mapped-columns.ts";
import { isFailureColumn, normalHeader } from "../../flows/rows/row-form.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { shownName } from "../../flows/words.ts";
import { UsageError } from "../context/errors.ts";
import { named, several } from "../flags/values.ts";
import { flagName } from "../output/command-words.ts";

export interface RawMapFlags {
  readonly map?: string[];
  readonly mapValue?: string[];
  readonly mapFile?: string;
}

/** The mapping of the flags, and the file of mappings to read as well. */
export interface MapFlags extends Mapping {
  /** As typed; undefined for the one in the current folder. */
  readonly mapFile: string | undefined;
  /** The part that a later command does not know by itself; all of it if undefined. */
  readonly unsaved?: UnsavedMapping | undefined;
  /** The entries of `--map` and `--map-value`, as typed. */
  readonly entries?: readonly string[] | undefined;
}

/** The mappings that a later command needs for files in the same folder, and for those elsewhere. */
export interface UnsavedMapping {
  readonly here: Mapping;
  readonly elsewhere: Mapping;
}

export const withMapFlags = (command: Command, example: string): Command =>
  command
    .option(
      "--map <COLUMN=FIELD>",
      "read a column as a field, or skip it (COLUMN=ignore); repeatable",
      several,
    )
    .option(
      "--map-value <FIELD:FROM=TO>",
      `read a value as another one, e.g. ${example}, in a field or a column; repeatable`,
      several,
    )
    .addOption(
      new Option("--map-file <FILE>", "JSON file with columns and values to map").default(
        undefined,
        "catalogue.map.json next to the file, if it exists",
      ),
    );

/** The mapping of the flags. Throws UsageError. */
export const readMapFlags = (
  { map = [], mapValue = [], mapFile }: RawMapFlags,
  words: Vocabulary,
): MapFlags => ({
  map: readMap(map, words),
  values: readValues(mapValue, words),
  mapFile: named("--map-file", mapFile, "Choose a file."),
  entries: [...map, ...mapValue],
});

/** Rejects the flags without the file that they map. Throws UsageError. */
export function rejectMapping(raw: RawMapFlags, file: string): void {
  const flag = (["map", "mapValue", "mapFile"] as const).find((name) => raw[name] !== undefined);
  if (flag === undefined) return;
  const param = flagName(flag);
  throw new UsageError(`${param} needs ${file}`, { param, hint: `Add ${file}, or remove ${param}.` });
}

/** Rejects what the flags map in a table only, for a file of objects. Throws UsageError. */
export function rejectForObjects(file: string, { map, values }: Mapping, words: Vocabulary): void {
  const [column, field] = [...map].find(([, field]) => !words.isField(field)) ?? [];
  const name = [...values.keys()].find((name) => !words.valued.includes(name));
  if (column === undefined && name === undefined) return;
  const param = column === undefined ? "--map-value" : "--map";
  const entry = column === undefined ? `${name}:` : `${column}=${field}`;
  const fields = column === undefined ? words.valued.join(", ") : words.fields;
  throw new UsageError(`cannot use ${param} "${entry}": ${shownName(file)} is read as NDJSON`, {
    param,
    hint: `A row has the fields ${fields}. If the file is CSV, add --format csv.`,
  });
}

/** The flags of a mapping, for a command that reads the failed file of a file. */
export function mapFlags(
  { unsaved, mapFile, entries = [], ...all }: MapFlags,
  failedFile: string,
  file: string | null,
) {
  const isElsewhere = file !== null && !isInFolderOf(failedFile, file);
  const { map, values } = unsaved?.[isElsewhere ? "elsewhere" : "here"] ?? all;
  const spelling = new Map(entries.map((entry) => [normalValue(entry), entry]));
  const asTyped = (entry: string) => spelling.get(normalValue(entry)) ?? entry;
  return {
    mapFile,
    // The failed file has its own columns with the names of the failure columns.
    map: [...map].filter(([column]) => !isFailureColumn(column)).map((entry) => asTyped(entry.join("="))),
    mapValue: valueEntries(values).map(asTyped),
  };
}

/** Whether two files, as typed, are in one folder. */
export const isInFolderOf = (file: string, other: string): boolean =>
  resolve("/", dirname(file)) === resolve("/", dirname(other));

/** The entries of `--map`. */
function readMap(entries: readonly string[], words: Vocabulary): Map<string, string> {
  const fields = `FIELD is one of ${words.fields}, or ignore.`;
  const map = new Map<string, string>();
  for (const entry of entries) {
    const mistake = mistakeIn("--map", entry);
    const at = entry.lastIndexOf("=");
    const column = normalHeader(unquoted(entry.slice(0, Math.max(0, at)).trim()));
    const field = entry.slice(at + 1).trim();
    if (at < 1 || column === "") {
      const hint = `For example: --map SKU=${words.reference}. COLUMN is a column of the file. ${fields}`;
      throw mistake("use COLUMN=FIELD", hint);
    }
    if (field === "" || !words.isField(field)) {
      const near = words.nearest(field).join(" or ");
      throw mistake(`unknown field "${field}"`, near === "" ? fields : `Did you mean ${near}? ${fields}`);
    }
    const earlier = map.get(column);
    if (earlier !== undefined) {
      const hint = `It is already mapped to ${earlier}. Remove one of the two.`;
      throw mistake(`the column "${column}" is mapped twice`, hint);
    }
    map.set(column, field);
  }
  return map;
}

/** The entries of `--map-value`: the name is before the first colon, and TO after the last equals sign. */
function readValues(entries: readonly string[], { valued, listChoices, isOpen }: Vocabulary): ValueMap {
  const values = new Map<string, Map<string, string>>();
  for (const entry of entries) {
    const mistake = mistakeIn("--map-value", entry);
    const [colon, equals] = [entry.indexOf(":"), entry.lastIndexOf("=")];
    const name = normalHeader(unquoted(entry.slice(0, Math.max(0, colon)).trim()));
    const from = normalValue(entry.slice(colon + 1, Math.max(colon + 1, equals)));
    const to = entry.slice(equals + 1).trim();
    if (name === "" || equals < colon || from === "") {
      const hint = `For example: --map-value ${valued.includes("sex") ? "sex:Damen=female" : `${valued[0]}:FROM=TO`}. FIELD is a column of the file, or one of ${valued.join(", ")}.`;
      throw mistake("use FIELD:FROM=TO", hint);
    }
    const choices = listChoices(name);
    if (to !== "" && choices !== undefined && !isOpen(name) && !choices.includes(to)) {
      const near = questionFor(didYouMean(to, choices), "D").replace("Dd", "D");
      const hint = `TO is one of ${choices.join(", ")}, or empty for no value.`;
      throw mistake(`unknown value "${to}"`, near === "" ? hint : `${near} ${hint}`);
    }
    const some = values.get(name) ?? new Map<string, string>();
    const earlier = some.get(from);
    if (earlier !== undefined) {
      const hint = `It is already mapped to "${earlier}". Remove one of the two.`;
      throw mistake(`the value "${from}" is mapped twice`, hint);
    }
    values.set(name, some.set(from, to));
  }
  return values;
}

const mistakeIn = (flag: string, entry: string) => (wrong: string, hint: string) =>
  new UsageError(`invalid ${flag} ${JSON.stringify(entry)}: ${wrong}`, { param: flag, hint });

/** The header without the quotes that a CSV file may put around it. */
const unquoted = (column: string): string =>
  /^"(?:[^"]|"")*"$/.test(column) ? column.slice(1, -1).replaceAll('""', '"') : column;
