import {
  type ColumnMap,
  columnNames,
  columnOf,
  isKnownColumn,
  nearestColumns,
} from "../../../flows/import/columns.ts";
import { importForm } from "../../../flows/import/import-form.ts";
import { openRows } from "../../../flows/rows/open-rows.ts";
import { UnreadableInput } from "../../../flows/rows/problem.ts";
import { normalHeader } from "../../../flows/rows/row-form.ts";
import type { Source } from "../../../flows/rows/source.ts";
import { TableReader } from "../../../flows/rows/table-rows.ts";
import { firstOf, truncated } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { type Choice, canAsk, openPrompts } from "../../app/prompts.ts";
import type { ImportFlags } from "./flags.ts";
import type { SavedColumns } from "./saved-columns.ts";

/** The maximum number of columns that a note lists. */
const namedColumns = 20;
/** The maximum number of characters of a header or a cell that a prompt shows. */
const shownLength = 40;

/**
 * The field of each column: from `--map`, then from the columns saved in the profile (unless the header has the
 * field itself), then from prompts, whose answers may be saved. Throws an InterruptError when a prompt is not answered.
 */
export async function columnsOf(app: App, flags: ImportFlags, source: Source): Promise<ColumnMap> {
  const head = await readHead(source, flags);
  if (head === null || head.unknown.size === 0) return flags.map;
  const { savedColumns } = await import("./saved-columns.ts");
  const saved = await savedColumns(app);
  const map = new Map(flags.map);
  // A saved column must not repeat a field that the header or --map has.
  const known: string[] = [];
  const open = new Map(head.unknown);
  for (const [name, { title }] of head.unknown) {
    const field = saved.columns.get(name);
    if (field === undefined || fieldsOf(head.header, map).has(columnOf(field).name!)) continue;
    known.push(`${truncated(title, shownLength)} = ${field}`);
    map.set(name, field);
    open.delete(name);
  }
  if (known.length > 0) {
    const columns = firstOf(known, namedColumns);
    const from = `Columns remembered from earlier files (profile ${saved.profile})`;
    await app.io.note(app.io.visible(`${from}: ${columns}.`));
  }
  // Rows may be typed at the terminal themselves.
  const asks = open.size > 0 && flags.file !== "-" && canAsk(app);
  return asks ? askFor(app, { ...head, unknown: open }, map, saved) : map;
}

interface Head {
  readonly header: readonly string[];
  /** The unknown columns by normal header: the header as it is, and an example of a cell. */
  readonly unknown: ReadonlyMap<string, { readonly title: string; readonly sample: string }>;
}

/** The head of a CSV file; null for other files, and for one that cannot be read: the check reports why. */
async function readHead(source: Source, flags: ImportFlags): Promise<Head | null> {
  if (source.format === "ndjson") return null;
  const reader = await openRows({ source, read: flags, form: importForm(flags.map) });
  const records: (readonly string[])[] = [];
  try {
    for await (const rows of reader.batches()) {
      records.push(...rows.slice(0, 5).map((row) => row.record as readonly string[]));
      break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
  // With a wrong delimiter the header is not split into its columns.
  if (!(reader instanceof TableReader) || reader.headProblems.some(({ code }) => code === "wrong_format"))
    return null;
  const { header } = reader;
  const unknown = new Map<string, { title: string; sample: string }>();
  for (const [index, title] of header.entries()) {
    const name = normalHeader(title);
    if (isKnownColumn(title, flags.map) || unknown.has(name)) continue;
    const cells = records.map((record) => record[index]?.trim() ?? "");
    unknown.set(name, { title: title.trim(), sample: cells.find((cell) => cell !== "") ?? "" });
  }
  return { header, unknown };
}

async function askFor(
  app: App,
  { header, unknown }: Head,
  map: ColumnMap,
  saved: SavedColumns,
): Promise<ColumnMap> {
  const show = (text: string) => app.io.visible(truncated(text, shownLength));
  const prompts = await openPrompts(app);
  const answers = new Map<string, string>();
  const names = [...unknown.keys()];
  for (const [index, [name, { title, sample }]] of [...unknown].entries()) {
    const example = sample === "" ? "" : ` (example: ${show(sample)})`;
    const taken = fieldsOf(header, new Map([...map, ...answers]));
    const field = await prompts.select(
      `What is in column "${show(title)}"?${example}`,
      ...choicesFor(title, taken, names.length - index > 1),
    );
    if (field === ignoreRest) {
      for (const rest of names.slice(index)) answers.set(rest, "ignore");
      break;
    }
    answers.set(name, field);
  }
  if (await prompts.confirm(`Remember this for later files (profile ${show(saved.profile)})?`, true)) {
    await saved.save(answers);
  }
  return new Map([...map, ...answers]);
}

/** The fields in a header, without ignored and unknown columns. */
function fieldsOf(header: readonly string[], map: ColumnMap): Set<string> {
  const names = header.map((one) => columnOf(map.get(normalHeader(one)) ?? one).name);
  return new Set(names.filter((name) => name !== null));
}

/** The answer for all remaining columns. It contains spaces, so it is not the name of a field. */
const ignoreRest = "ignore the rest";

/**
 * The nearest fields first, then the other fields that the file lacks, then skipping the column. Skipping is the
 * default without a near field: an import does not use most such columns, for example prices.
 */
function choicesFor(
  column: string,
  taken: ReadonlySet<string>,
  hasMore: boolean,
): [choices: Choice<string>[], usual: string] {
  const free = columnNames.filter(
    (name) =>
      !taken.has(name) && (!name.endsWith("_orientation") || taken.has(name.replace("_orientation", ""))),
  );
  const first = nearestColumns(column).filter((name) => free.includes(name));
  const fields = [...first, ...free.filter((name) => !first.includes(name))];
  const choices = [
    ...fields.map((name) => ({ name, value: name })),
    { name: "something else (skip this column)", value: "ignore" },
    { name: "something else (skip this and all other unknown columns)", value: ignoreRest },
  ];
  return [hasMore ? choices : choices.slice(0, -1), first[0] ?? "ignore"];
}
