import type { Mapping } from "../../flows/rows/mapped-columns.ts";
import { withValues } from "../../flows/rows/value-map.ts";
import { firstOf, truncated } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { canAsk } from "../app/prompts.ts";
import { type FileHead, type MappedFile, readHead, shownLength } from "./file-head.ts";
import type { SavedMapping } from "./saved-mapping.ts";

/** The maximum number of columns or values that a note lists. */
const named = 20;
/**
 * How a file is read: by the flags, then by what the profile remembers (unless the header has the field itself), then by
 * answers of the user, who may save them. Throws an InterruptError when a question is not answered.
 */
export async function readMapping(app: App, file: MappedFile): Promise<Mapping> {
  const { flags, form, words } = file;
  const head = await readHead(file, form(flags));
  if (head === null || (words.needsOne && head.fields.size > 0)) return flags;
  const hasChoices = [...head.fields].some((name) => {
    const field = words.valuedFieldOf(name);
    return field !== null && words.choicesOf(field) !== undefined;
  });
  if (head.unknown.size === 0 && !hasChoices) return flags;
  const { savedMapping } = await import("./saved-mapping.ts");
  const saved = await savedMapping(app, words);
  const mapping = await withSaved(app, file, head, saved);
  // Rows may be typed at the terminal themselves.
  if (file.file === "-" || !canAsk(app)) return mapping;
  return (await import("./ask-mapping.ts")).askMapping(app, file, mapping, saved);
}

/** Adds what the profile remembers, and says so. */
async function withSaved(
  app: App,
  { flags, form, words }: MappedFile,
  { header, unknown }: FileHead,
  saved: SavedMapping,
): Promise<Mapping> {
  const fieldsOf = (map: Mapping["map"]) =>
    new Set(form({ ...flags, map }).columns(header, 1, () => {}).names);
  const show = (text: string) => truncated(text, shownLength);
  const from = `remembered from earlier files (profile ${saved.profile})`;
  const note = async (what: string, entries: readonly string[]) => {
    if (entries.length > 0) await app.io.note(app.io.visible(`${what} ${from}: ${firstOf(entries, named)}.`));
  };
  // A saved column must not repeat a field that the header or --map has.
  const map = new Map(flags.map);
  const columns: string[] = [];
  for (const [name, { title }] of unknown) {
    const field = saved.map.get(name);
    if (field === undefined || fieldsOf(map).has(field)) continue;
    columns.push(`${show(title)} = ${field}`);
    map.set(name, field);
  }
  await note("Columns", columns);
  const fields = [...fieldsOf(map)];
  const known = [...saved.values].filter(([field]) =>
    fields.some((name) => name !== null && words.valuedFieldOf(name) === field),
  );
  const values = known.flatMap(([field, some]) =>
    [...some]
      .filter(([value]) => !flags.values.get(field)?.has(value))
      .map(([value, to]) => `${show(value)} = ${to || "no value"}`),
  );
  await note("Values", values);
  return { map, values: withValues(flags.values, new Map(known)) };
}
