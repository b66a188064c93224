import type { AskedSheet, SheetChoice } from "../../flows/rows/choose-sheet.ts";
import type { InputFormat } from "../../flows/rows/input-format.ts";
import { whoHasOpen } from "../../flows/rows/lock-files.ts";
import { type FileJob, InputError, openSource, type Source } from "../../flows/rows/source.ts";
import type { CopiedSheet } from "../../flows/rows/workbook-copy.ts";
import { counted, listFirst, shownName } from "../../flows/words.ts";
import { truncated } from "../../text.ts";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";

export interface InputFlags {
  /** The path as typed; `-` is standard input. */
  readonly file: string;
  readonly format?: InputFormat | undefined;
  readonly sheet?: string | undefined;
  readonly skipsHidden?: boolean | undefined;
}

export interface InputColumns extends Pick<SheetChoice, "forms" | "mapped" | "chosenBefore"> {
  /** Called with the sheet that the user chose. */
  remember?(sheet: string): Promise<void>;
}

/**
 * Opens a file of rows; asks which of several sheets is meant, and notes what of it is not read as people see
 * it. Throws InputError, WorkbookError.
 */
export async function openInput(
  app: App,
  { file, format, sheet, skipsHidden }: InputFlags,
  {
    job,
    columns: { remember, ...columns },
    isCompared,
  }: { job: FileJob; columns: InputColumns; isCompared?: boolean },
): Promise<Source> {
  const { cwd, interrupt } = app.context;
  const stdin = () => app.context.stdin;
  if (file === "-" && stdin().isTTY)
    await app.io.note("Reading rows from the terminal; press Ctrl-D to finish.");
  const progress = await app.io.progress();
  const ask = async (sheets: readonly AskedSheet[]) => {
    progress.pause?.();
    const choices = sheets.map(({ name, header }) => {
      const titles = header
        .filter((title) => title.trim() !== "")
        .map((title) => truncated(title, shownTitle));
      return { name: app.io.visible(`${name} (${listFirst(titles, 3)})`), value: name };
    });
    const chosen = await (await openPrompts(app)).select(
      `Which sheet of ${shownName(file)}?`,
      choices,
      sheets[0]!.name,
    );
    app.typed.push("--sheet", chosen);
    await remember?.(chosen);
    return chosen;
  };
  const onProgress = progress.update.bind(progress);
  const sheets = {
    sheet,
    skipsHidden,
    ...columns,
    ask: file !== "-" && canAsk(app) ? ask : null,
    onProgress,
  };
  const onSaved = () =>
    app.io.note(
      app.io.visible(
        `${shownName(file)} was saved meanwhile: the rows are those from before. For its changes, run the command again.`,
      ),
    );
  const common = { job, cwd, stdin, format, signal: interrupt, isCompared };
  const source = await openSource(file, { ...common, sheets, onSaved })
    .finally(() => progress.end())
    .catch(async (error: unknown) => {
      throw (await otherThanFile(app, file, error)) ?? error;
    });
  await noteIfOpen(app, source, job);
  if (source.sheet !== undefined)
    for (const note of sheetNotes(source.sheet, shownName(file), skipsHidden ?? false))
      await app.io.note(app.io.visible(note));
  return source;
}

/** Notes that a program has the file open, with changes that may not be saved. */
async function noteIfOpen(app: App, { name, path }: Source, { noun }: FileJob): Promise<void> {
  const user = path === null ? null : await whoHasOpen(path);
  if (user === null) return;
  const who = user === "" ? "Another program" : user[0]!.toUpperCase() + user.slice(1);
  const used = noun === "import" ? "imported" : "read";
  await app.io.note(app.io.visible(`${name}: ${who} has it open: unsaved changes are not ${used}.`));
}

/** The error for a missing file whose name is rather a command (`cat import undo`) or product; else null. */
async function otherThanFile(app: App, file: string, error: unknown): Promise<InputError | null> {
  if (!(error instanceof InputError) || error.code !== "file_not_found" || /[./\\]/.test(file)) return null;
  const command = app.typed.find((word) => /^(?:import|tryon|beautify|coverage)$/.test(word));
  if (command === undefined) return null;
  const { meantCommands } = await import("../flags/first-guesses.ts");
  const meant = meantCommands(file, command);
  if (meant.length === 0 && command === "import") return null;
  const other =
    command === "coverage"
      ? "a text: cat products coverage --q TEXT"
      : `a product: cat ${command} --product ID|REF`;
  const hint = meant.length > 0 ? `Did you mean ${meant.join(" or ")}?` : `Check the name. For ${other}`;
  return new InputError(error.message, error.code, hint);
}

/** The maximum number of characters of a column's title in the question about a sheet. */
const shownTitle = 20;

function* sheetNotes(
  { sheet, chosen, hiddenRows, hiddenColumns, extras }: CopiedSheet,
  file: string,
  skipsHidden: boolean,
): Generator<string> {
  const why = chosen === "memory" ? `as you chose for ${file} before` : "whose columns fit";
  if (chosen !== null) yield `Reading the sheet "${sheet}", ${why}; choose another one with --sheet.`;
  if (hiddenRows > 0)
    yield skipsHidden
      ? `${counted(hiddenRows, "hidden row")} skipped.`
      : `${counted(hiddenRows, "hidden row")} read like the others; leave hidden rows out with --hidden skip.`;
  if (hiddenColumns > 0) yield `${counted(hiddenColumns, "hidden column")} read like the others.`;
  if (extras.pictures > 0)
    yield `${counted(extras.pictures, "picture")} in the sheet not read: photos are files and URLs.`;
  if (extras.hasComments) yield "Comments in the sheet are not read.";
}

/** Notes how many references of a sheet are numbers. `findColumn`: their column, or -1. */
export async function noteNumericReferences(
  app: App,
  { numbers, header }: CopiedSheet,
  findColumn: (header: readonly string[]) => number,
): Promise<void> {
  const count = numbers.get(findColumn(header)) ?? 0;
  const [as, they] = count === 1 ? ["a number", "it"] : ["numbers", "they"];
  if (count > 0)
    await app.io.note(
      `${counted(count, "reference")} stored as ${as}: zeros that ${they} may have had at the start are lost.`,
    );
}
