import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { fileProblem } from "../../../errors.ts";
import { type AddedPhotos, addedPhotos, rowsOfPhotos } from "../../../flows/import/added-photos.ts";
import { csvRecords } from "../../../flows/outputs/cells.ts";
import {
  type FolderPhoto,
  guessPatterns,
  listPhotos,
  type PhotoListing,
  photosByPattern,
  photosOfRows,
  type SortedPhotos,
} from "../../../flows/photos/folder-photos.ts";
import type { LocalPhotos } from "../../../flows/photos/local-photos.ts";
import { misreadName } from "../../../flows/photos/misread-names.ts";
import { NamePattern } from "../../../flows/photos/name-pattern.ts";
import { openRows, type RowFile } from "../../../flows/rows/open-rows.ts";
import { UnreadableInput } from "../../../flows/rows/problem.ts";
import { copiedSource, type FileJob, InputError, type Source } from "../../../flows/rows/source.ts";
import { counted, grouped, listFirst, shownName } from "../../../flows/words.ts";
import { shellWord } from "../../../shell-word.ts";
import { truncated, withoutEnd } from "../../../text.ts";
import type { App } from "../../app/app.ts";
import { canAsk, openPrompts } from "../../app/prompts.ts";
import { UsageError } from "../../context/errors.ts";
import type { PhotoAt } from "../../output/problem-groups.ts";
import type { ImportFlags } from "./flags.ts";

/** A folder of photos: that of `--images-from`, or the one to import. */
export interface PhotoFolder {
  /** The flags, with the sheet in the folder as the file, or with the folder's own name. */
  readonly flags: ImportFlags;
  readonly listing: PhotoListing;
  readonly pattern: NamePattern | null;
  /** Rows made from the names of the photos; null if a sheet has the rows. */
  readonly source: Source | null;
  /** The photo that a problem of these rows is about; absent if a sheet has the rows. */
  readonly photoAt?: PhotoAt;
  /** Whether these rows have the names of products; else their references are their names. */
  readonly hasNames?: boolean;
  /** The SHA-256 (hex) that its photos must have, by their paths in rows. */
  readonly digests?: ReadonlyMap<string, string>;
}

/** Lists the folder, and makes the rows if no sheet has them. Throws UsageError and InputError. */
export async function openFolder(
  app: App,
  flags: ImportFlags,
  isFolder: boolean,
  job: FileJob,
): Promise<PhotoFolder> {
  const { cwd, interrupt } = app.context;
  if (isFolder && flags.imagesFrom !== undefined)
    throw new UsageError(`--images-from cannot be combined with a folder to import`, {
      param: "--images-from",
      hint: "Remove --images-from, or import the sheet of the products.",
    });
  const pattern = flags.pattern === undefined ? null : readPattern(flags.pattern);
  const typed = isFolder ? flags.file : flags.imagesFrom!;
  const folder = resolve(cwd, typed);
  const listing = await listPhotos(folder, interrupt).catch((error) => {
    throw unreadable(isFolder ? typed : `--images-from ${typed}`, error);
  });
  if (isFolder) rejectOutputsIn(folder, flags, cwd);
  const { count, example } = listing.others;
  if (count > 0) await note(app, `${counted(count, "other file")} in ${typed} skipped, such as ${example}.`);
  if (!isFolder) return { flags, listing, pattern, source: null };
  const file = nameOfFolder(typed, cwd);
  const sheet = onlySheet(listing, file);
  if (sheet !== undefined) {
    await note(app, `Reading ${join(file, sheet)}, with the photos of its folder.`);
    return { flags: { ...flags, file: join(file, sheet) }, listing, pattern, source: null };
  }
  rejectSheetFlags(flags, file);
  return rowsFromNames(app, { flags: { ...flags, file }, listing, pattern }, typed, job);
}

/** The sheet of the folder, if it has one. */
function onlySheet({ sheets, paths }: PhotoListing, file: string): string | undefined {
  const [sheet, ...more] = sheets;
  if (more.length === 0) return sheet;
  const words = [join(file, sheet!), ...(paths.length === 0 ? [] : ["--images-from", file])];
  throw new InputError(
    `${file} has ${sheets.length} files of rows: ${sheets.join(", ")}`,
    "which_file",
    `Choose one, for example: cat import ${words.map((word) => shellWord(word)).join(" ")}`,
  );
}

/** Makes the rows of a folder without a sheet, by the names of its photos. */
async function rowsFromNames(
  app: App,
  { flags, listing, pattern }: Omit<PhotoFolder, "source">,
  typed: string,
  job: FileJob,
): Promise<PhotoFolder> {
  const { cwd, interrupt } = app.context;
  const { folder } = listing;
  if (listing.paths.length === 0)
    throw new InputError(
      `${typed} is a folder without photos or a sheet`,
      "is_a_directory",
      "Choose a folder with photos, or a file of rows.",
    );
  const shown = shownFolder(typed, folder);
  const chosen = pattern ?? (await askPattern(app, listing, shown));
  const sorted = photosByPattern(listing, chosen);
  if (sorted.products.size === 0)
    throw new InputError(
      `no photo in ${shown} fits the pattern ${chosen.text}, such as ${listing.paths[0]}`,
      "no_photos",
      "Use another --pattern.",
    );
  const [products, unmatched] = [counted(sorted.products.size, "product"), sorted.left];
  await note(
    app,
    `${counted(listing.paths.length - unmatched.length, "photo")} of ${products} found in ${shown}.`,
  );
  if (unmatched.length > 0)
    await note(
      app,
      `${counted(unmatched.length, "photo")} skipped: not like the pattern, such as ${unmatched[0]}.`,
    );
  const root = flags.imagesRoot === undefined ? dirname(folder) : resolve(cwd, flags.imagesRoot);
  const fromRoot = pathFrom(root, folder);
  const stream = Readable.from(toCsv(sorted, fromRoot));
  const place = { job, cwd, stdin: () => app.context.stdin, format: "csv", signal: interrupt } as const;
  const source = await copiedSource(shown, stream, { path: folder, place: folder }, place);
  const photoAt = photosByLine(sorted, fromRoot, typed);
  return { flags, listing, pattern: chosen, source, photoAt };
}

/** The photos of the rows of a sheet. Notes how many there are, and which belong to no row. */
export async function photosForRows(
  app: App,
  { listing, pattern, flags }: PhotoFolder,
  file: RowFile,
  { root }: LocalPhotos,
): Promise<AddedPhotos> {
  const sorted = await photosOfRows(listing, pattern, () => references(file, app.context.interrupt));
  const { left, products } = sorted;
  const photoCount = counted(listing.paths.length - left.length, "photo");
  const where = flags.imagesFrom ?? dirname(shownName(flags.file));
  await note(app, `${photoCount} of ${counted(products.size, "product")} found in ${where}.`);
  if (left.length > 0) {
    const hint = pattern === null ? " For other names than REFERENCE_front, add --pattern." : "";
    const belong = left.length === 1 ? "belongs" : "belong";
    const odd = left.find((path) => misreadName(path) !== null);
    const misread = odd === undefined ? "" : ` The name of ${JSON.stringify(odd)} ${misreadName(odd)}.`;
    await note(
      app,
      `${counted(left.length, "photo")} ${belong} to no row, such as ${left[0]}.${misread || hint}`,
    );
  }
  const { folder } = listing;
  return addedPhotos(sorted, { folder, shown: where, root, fromRoot: pathFrom(root, folder) });
}

/** The references of a file, as far as it can be read: its check reports where it cannot. */
async function* references(file: RowFile, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const rows of (await openRows(file)).batches()) {
      signal.throwIfAborted();
      for (const { content } of rows) {
        const reference = file.form.readReference(content);
        if (reference !== undefined) yield reference;
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
}

function* toCsv(sorted: SortedPhotos, fromRoot: string): Generator<string> {
  let records: (readonly string[])[] = [];
  for (const record of rowsOfPhotos(sorted, fromRoot)) {
    records.push(record);
    if (records.length < 100) continue;
    yield csvRecords(records);
    records = [];
  }
  if (records.length > 0) yield csvRecords(records);
}

/** The photo that a problem of a row is about, by its column, else the first one of the product. */
function photosByLine(sorted: SortedPhotos, fromRoot: string, folder: string): PhotoAt {
  const byLine = new Map<number, readonly FolderPhoto[]>();
  const photos = sorted.products.values();
  let line = 1;
  for (const record of rowsOfPhotos(sorted, fromRoot)) {
    if (line > 1) byLine.set(line, photos.next().value!);
    // A name may have line breaks.
    line += csvRecords([record]).split("\n").length - 1;
  }
  return (line, param) => {
    const number = Number(/^image_(\d+)/.exec(param ?? "")?.[1] ?? 1);
    const photo = byLine.get(line)?.[number - 1];
    return photo && join(folder, photo.path);
  };
}

const shownFolder = (typed: string, folder: string): string =>
  [".", ".."].includes(basename(typed))
    ? basename(folder)
    : typed.slice(0, 1) + withoutEnd(typed.slice(1), /[/\\]/);

/** The folder without a final slash; `.` gets its name, as files about it are next to it. */
export function nameOfFolder(typed: string, cwd: string): string {
  const folder = resolve(cwd, typed);
  return isAbsolute(typed) ? folder : join(relative(cwd, dirname(folder)), basename(folder));
}

const pathFrom = (root: string, folder: string): string => relative(root, folder).replaceAll(sep, "/");

function readPattern(text: string): NamePattern {
  try {
    return new NamePattern(text.replaceAll(sep, "/"));
  } catch (error) {
    throw new UsageError(`invalid --pattern ${JSON.stringify(text)}: ${(error as Error).message}`, {
      param: "--pattern",
      hint: 'For example: --pattern "{reference}_{side}", "{reference}-{n}" or "{reference}/*".',
    });
  }
}

/** An output in the folder would be read as its sheet by the next command. */
export function rejectOutputsIn(folder: string, { results, failed, report }: ImportFlags, cwd: string): void {
  const reports = report.map((path) => ["report", path] as const);
  for (const [flag, path] of [...Object.entries({ results, failed }), ...reports]) {
    if (path === undefined || dirname(resolve(cwd, path)) !== folder) continue;
    throw new UsageError(`--${flag} ${path} is in the folder to import`, {
      param: `--${flag}`,
      hint: "Choose a file outside of it: the next import would read it as the sheet of the folder.",
    });
  }
}

export function rejectSheetFlags({ format, sheet, delimiter, encoding }: ImportFlags, file: string): void {
  const given = Object.entries({ format, sheet, delimiter, encoding });
  const [flag] = given.find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return;
  throw new UsageError(`cannot use --${flag}: ${file} is a folder without a sheet`, {
    param: `--${flag}`,
    hint: `Remove --${flag}.`,
  });
}

function unreadable(name: string, error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const why =
    code === "ENOENT"
      ? "does not exist"
      : code === "ENOTDIR"
        ? "is not a folder"
        : `cannot be read: ${fileProblem(error)?.why ?? code}${path === undefined ? "" : ` (${path})`}`;
  return new UsageError(`${name} ${why}`, {
    code: "folder_not_readable",
    hint: "Choose a folder of photos.",
  });
}

const note = (app: App, text: string): Promise<void> => app.io.note(app.io.visible(text));

/** The maximum number of characters of a reference that is shown. */
const shownLength = 30;

/** Asks how photo names are read, as products are never guessed. Throws InputError if it cannot ask. */
async function askPattern(app: App, listing: PhotoListing, folder: string): Promise<NamePattern> {
  const guesses = guessPatterns(listing);
  const flag = (pattern: NamePattern) => `--pattern ${shellWord(pattern.text)}`;
  if (!canAsk(app)) {
    const [first] = guesses;
    const example =
      first === undefined
        ? '--pattern "{reference}_{side}"'
        : `${flag(first.pattern)} (${toResult(first.photos)})`;
    throw new InputError(
      `${folder} has no sheet: the names of its photos do not show which part is the reference`,
      "which_pattern",
      `Add the pattern of the names, for example ${example}.`,
    );
  }
  const prompts = await openPrompts(app);
  const answer = await prompts.select<NamePattern | null>(
    `How are the ${counted(listing.paths.length, "photo")} in ${folder} named, such as ${listing.paths[0]}?`,
    [
      ...guesses.map(({ pattern, photos }) => ({
        name: app.io.visible(`${pattern.text}: ${toExample(photos)}; ${toResult(photos)}`),
        value: pattern,
      })),
      { name: "another pattern", value: null },
    ],
    guesses[0]?.pattern ?? null,
  );
  const pattern = answer ?? new NamePattern(await askText(app));
  await app.io.note(app.io.visible(`To skip this question, add ${flag(pattern)}.`));
  return pattern;
}

async function askText(app: App): Promise<string> {
  const check = (text: string) => {
    try {
      new NamePattern(text);
      return true;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const prompts = await openPrompts(app);
  return prompts.input("Pattern of {reference}, {side}, {n} and *:", undefined, check);
}

/** The first product with a side or several photos: `DRESS-1 has front and back`. */
function toExample({ products }: SortedPhotos): string {
  const all = [...products];
  const [reference, photos] = all.find(([, several]) => several.length > 1) ?? all[0]!;
  const parts = photos.map(({ side, number }) =>
    [side, number].filter((part) => part !== undefined).join(" "),
  );
  const known = parts.filter((part) => part !== "");
  const what = known.length === 0 ? counted(photos.length, "photo") : listFirst(known, 3);
  return `${truncated(reference, shownLength)} has ${what}`;
}

function toResult({ products, left }: SortedPhotos): string {
  const all = [...products.values()].reduce((sum, photos) => sum + photos.length, 0);
  const part = left.length === 0 ? "" : `${grouped(all)} of `;
  return `${counted(products.size, "product")}, ${part}${counted(all + left.length, "photo")}`;
}
