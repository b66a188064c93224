import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type EncodingName, knownEncoding } from "../../flows/rows/encoding.ts";
import {
  type ColumnMap,
  type FileAnswers,
  type Mapping,
  normalValue,
} from "../../flows/rows/mapped-columns.ts";
import type { Source } from "../../flows/rows/source.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { shownTime } from "../../flows/run/clocks.ts";
import { shownName } from "../../flows/words.ts";
import { parseJson } from "../../json.ts";
import type { App } from "../app/app.ts";
import { openStateFile, profileStatePath } from "../app/profile-state.ts";
import { UsageError } from "../context/errors.ts";
import type { Profile } from "../settings/profiles.ts";
import { profileInUse } from "../settings/settings.ts";

/** The columns and values saved in a profile. */
export interface SavedMapping extends Mapping {
  /** The profile in use. */
  readonly profile: string;
  /** Values as they were saved, by their normal form. */
  readonly spelling: ReadonlyMap<string, string>;
  /** Adds columns and values, and replaces those that are already saved. */
  save(mapping: Mapping & { readonly encoding?: EncodingName }): Promise<void>;
}

/** The encoding that the profile remembers for files that are not UTF-8; null without one, or without usable settings. */
export async function savedEncoding(
  { globals, context }: Pick<App, "globals" | "context">,
  words: Vocabulary,
): Promise<{ encoding: string; profile: string } | null> {
  try {
    const { name: profile, settings } = await profileInUse(globals, context);
    const encoding = knownEncoding(toAnswers(settings ?? {}, words).encoding);
    return encoding === null ? null : { encoding, profile };
  } catch (error) {
    // The settings are not needed for a file whose columns are known.
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/** The columns that the profile remembers; none without usable settings, which are not needed for known columns. */
export async function rememberedColumns(
  app: Pick<App, "globals" | "context">,
  words: Vocabulary,
): Promise<ColumnMap> {
  try {
    return (await savedMapping(app, words)).map;
  } catch (error) {
    if (error instanceof UsageError) return new Map();
    throw error;
  }
}

/** The sheet that the user chose for a workbook of this name before; null without one, or without usable settings. */
export async function savedSheet(
  { globals, context }: Pick<App, "globals" | "context">,
  file: string,
): Promise<string | null> {
  try {
    const { sheets = {} } = (await profileInUse(globals, context)).settings ?? {};
    return Object.hasOwn(sheets, file) ? sheets[file]! : null;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/** Remembers the sheet of a workbook of this name. */
export async function saveSheet(
  { globals, context }: Pick<App, "globals" | "context">,
  file: string,
  sheet: string,
): Promise<void> {
  const { name } = await profileInUse(globals, context);
  const { updateProfile } = await import("../settings/update-config.ts");
  await updateProfile(context, name, (own) => ({
    ...own,
    sheets: Object.fromEntries([...Object.entries(asObject(own.sheets)), [file, sheet]]),
  }));
}

/** What the current profile remembers. Throws UsageError for a bad config file or an unknown field. */
export async function savedMapping(
  { globals, context }: Pick<App, "globals" | "context">,
  words: Vocabulary,
): Promise<SavedMapping> {
  const { name, settings, profiles } = await profileInUse(globals, context);
  const { columns = {}, values = {} } = toAnswers(settings ?? {}, words);
  const wrong = (what: string) =>
    new UsageError(`${what} of profile ${name} in the config file ${profiles.path}`, {
      code: "invalid_config",
      hint: "Correct it or remove it.",
    });
  for (const [column, field] of Object.entries(columns)) {
    if (typeof field === "string" && (words.ofTables ?? words).isField(field)) continue;
    throw wrong(`unknown field ${JSON.stringify(field)} for the column ${JSON.stringify(column)}`);
  }
  const read = new Map<string, Map<string, string>>();
  const spelling = new Map<string, string>();
  for (const [field, some] of Object.entries(values)) {
    const entries = Object.entries(asObject(some));
    const unread = entries.find(([, to]) => typeof to !== "string");
    if (unread !== undefined || !words.valued.includes(field))
      throw wrong(`invalid values ${JSON.stringify(field)}`);
    for (const [from] of entries) spelling.set(normalValue(from), from);
    read.set(field, new Map(entries.map(([from, to]) => [normalValue(from), to as string])));
  }
  return {
    profile: name,
    spelling,
    map: new Map(Object.entries(columns) as [string, string][]),
    values: read,
    async save(mapping) {
      // Files are read more often than answers are saved.
      const { updateProfile } = await import("../settings/update-config.ts");
      await updateProfile(context, name, (own) =>
        withAnswers(own, withSaved(toAnswers(own, words), mapping), words),
      );
    },
  };
}

/** What a profile remembers for one kind of files; import's is older than the others, and has no name. */
interface Answers {
  readonly columns?: Readonly<Record<string, unknown>>;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly encoding?: unknown;
}

const toAnswers = (profile: Profile | Record<string, unknown>, { kind }: Vocabulary): Answers =>
  kind === "import" ? (profile as Answers) : asObject(asObject(profile.mappings)[kind]);

const withAnswers = (profile: Record<string, unknown>, answers: Answers, { kind }: Vocabulary) =>
  kind === "import"
    ? { ...profile, ...answers }
    : { ...profile, mappings: { ...asObject(profile.mappings), [kind]: answers } };

function withSaved(
  { columns, values, encoding }: Answers,
  added: Mapping & { readonly encoding?: EncodingName },
): Answers {
  const all = { ...values };
  for (const [field, some] of added.values) {
    const names = new Set([...some.keys()].map(normalValue));
    const others = Object.entries(asObject(all[field])).filter(([from]) => !names.has(normalValue(from)));
    all[field] = Object.fromEntries([...others, ...some]);
  }
  return {
    ...(added.map.size > 0 || columns !== undefined
      ? { columns: { ...columns, ...Object.fromEntries(added.map) } }
      : {}),
    ...(Object.keys(all).length > 0 ? { values: all } : {}),
    ...((added.encoding ?? encoding) === undefined ? {} : { encoding: added.encoding ?? encoding }),
  };
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/**
 * The answers "for this file only" of a run of the same content, an open one if there is one; null without
 * any. `ledger`: the file of `--ledger`, which has the runs then. `encoding`: that of the flag.
 */
export async function keptAnswers(
  app: App,
  kind: string,
  source: Source,
  { ledger, encoding }: { ledger?: string | undefined; encoding: EncodingName },
): Promise<FileAnswers | null> {
  const path = ledger === undefined ? await profileStatePath(app) : resolve(app.context.cwd, ledger);
  // A state is not created for a question.
  if (app.globals.mock || path === null || !existsSync(path)) return null;
  const state = ledger === undefined ? await app.state() : await openStateFile(app, ledger);
  const runs = state.runs.ofKind(kind).filter(({ options }) => options.answers !== undefined);
  if (ledger !== undefined) state.close();
  if (runs.length === 0) return null;
  const digest = await source.readDigest();
  const run = runs.find(({ options }) => options.source === digest);
  if (run === undefined) return null;
  const answers = parseJson(run.options.answers!) as FileAnswers;
  // Another encoding makes other rows, and so another run.
  if (encoding !== undefined && encoding !== answers.encoding) return null;
  // To start over would generate the images of a finished run again.
  const hint = run.isEnded ? "To change that, use --map and --map-value." : "To choose again, add --fresh.";
  await app.io.note(
    app.io.visible(
      `Columns and values of ${shownName(source.name)} are read as you chose for the run started at ${shownTime(run.startedAt)}. ${hint}`,
    ),
  );
  return answers;
}
