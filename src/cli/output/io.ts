import type { OutputFile } from "../../flows/files/output-file.ts";
import type { CsvStyle } from "../../flows/outputs/cells.ts";
import { counted } from "../../flows/words.ts";
import { describeExchange, type ExchangeLog } from "../../http/exchange-log.ts";
import { maskedSignatures } from "../../http/mask.ts";
import { shortMessage, visible } from "../../text.ts";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";
import { indented, type ListTarget, type Pages, printList, resourceLines } from "./list.ts";
import { isReadByGithub, withoutCommands } from "./log-text.ts";
import type { Paint } from "./paint.ts";
import { createProgress } from "./progress.ts";
import type { ProgressPlace, ProgressView } from "./progress-view.ts";
import type { ListFormat, Printing } from "./table.ts";
import { jsonLine } from "./visible.ts";
import { lineWidth, wrappedText } from "./wrapped.ts";

/** The output of a command: data on stdout, everything else on stderr. */
export interface Io {
  /** With `--json`: data for programs on stdout, and only errors and progress on stderr. */
  readonly json: boolean;
  readonly quiet: boolean;
  /** Colors for stdout and for stderr: each may be a terminal or not. */
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** Writes text to stdout unchanged. */
  data(text: string | Uint8Array): Promise<void>;
  /** Prints CSV on stdout unchanged. In a log of GitHub Actions one note says how to stop commands in it. */
  csv(text: string): Promise<void>;
  /** Prints text for people on stdout, of which GitHub Actions carries out no line. */
  text(text: string): Promise<void>;
  /** Prints a JSON object as one line on stdout. */
  jsonData(value: unknown): Promise<void>;
  /** Prints a line for people on stderr, but not with `--quiet` or `--json`. */
  note(text: string): Promise<void>;
  /**
   * Prints a line on stderr, whatever the flags; above the progress bar, if one is shown. On a terminal it is
   * wrapped between words, unless `wrap` is false because it has its layout already. GitHub Actions carries
   * out no line as a command, unless `isCommand`.
   */
  line(text: string, options?: { wrap: boolean; isCommand?: boolean }): Promise<void>;
  /** Prints a list and resolves to its number of rows. Default: NDJSON with `--json`, else a table. */
  show<Row>(printing: Printing<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<number>;
  /** The same for rows that arrive in pages. */
  showPages<Row>(printing: Printing<Row>, pages: Pages<Row>): Promise<number>;
  /** Prints a single resource: one JSON object with `--json`, one CSV row, else one field per line. */
  resource<Row extends object>(value: Row, printing?: Printing<Row>): Promise<void>;
  /** Writes the commands in a text with the name that the user called; notes and lines need no call. */
  asCalled(text: string): string;
  /** A text of others without control characters and secrets; shortened without `--json`. */
  visible(text: string): string;
  /** Shows the progress of a job on stderr, without a bar if `lines`. The caller calls `end()`. */
  progress(options?: { lines: boolean }): Promise<ProgressView>;
}

async function* inPages<Row>(rows: Iterable<Row> | AsyncIterable<Row>): Pages<Row> {
  if (Symbol.iterator in rows) yield rows;
  else for await (const row of rows) yield [row];
}

interface IoOptions {
  paint: Paint;
  paintNote: Paint;
  mask(text: string): string;
  asCalled(text: string): string;
  excelStyle(given: boolean | undefined): Promise<CsvStyle | null>;
  /** Begins a file of `--out` after its check, which asks before one is replaced. Throws UsageError. */
  openOut(name: string): Promise<OutputFile>;
}

/** Creates the output of a command. Flags are set after it: `globals` is read at each use. */
export function createIo(
  context: Context,
  globals: GlobalOptions,
  { paint, paintNote, mask, asCalled, excelStyle, openOut }: IoOptions,
): Io {
  // Mask before the text is cut: a secret that is cut would not be recognized.
  const masked = (text: string) => visible(mask(text));
  const shown = (text: string) => (globals.json ? masked(text) : shortMessage(masked(text)));
  const { view, open, ...lines } = notesFor(context, globals, (text) =>
    maskedSignatures(mask(asCalled(text))),
  );
  const { json, ...printed } = dataFor(context, view, lines.note);
  const toFormat = ({ format }: Printing<never>) => format ?? (globals.json ? "ndjson" : "table");
  const io: Io = {
    get json() {
      return globals.json;
    },
    get quiet() {
      return globals.quiet;
    },
    ...{ paint, paintNote, asCalled, visible: shown },
    ...lines,
    ...printed,
    show: (printing, rows) => io.showPages(printing, inPages(rows)),
    async showPages(printing, pages) {
      const format = toFormat(printing);
      const { out } = printing;
      if (format === "xlsx" && out === undefined) rejectTerminal(context, "--out list.xlsx");
      const target: ListTarget = {
        write: format === "table" ? io.text : format === "csv" ? io.csv : json,
        writeBytes: io.data,
        width: context.stdout.isTTY ? context.stdout.columns : null,
        heading: paint.bold,
        visible: masked,
        excelStyle,
        onDropped: (names) => io.note(tooNarrow(names)),
      };
      if (out === undefined) return printList(printing, pages, format, target);
      const rows = await writeList(await openOut(out), printing, pages, { ...target, format });
      if (io.json) await io.jsonData({ file: out, rows });
      else await io.note(shown(`Wrote ${counted(rows, "row")} to ${out}.`));
      return rows;
    },
    async resource(value, printing = { columns: [] }) {
      const format = toFormat(printing);
      if (format === "csv") return void (await io.show(printing, [value]));
      const selected = printing.select?.(value) ?? value;
      if (format === "ndjson") await io.jsonData(selected);
      else if (format === "json") await json(`${indented(selected)}\n`);
      else await io.text(resourceLines(selected, paint.bold));
    },
    progress: (options) => open({ paint: paintNote, visible: shown }, options),
  };
  return io;
}

/** Lines and progress on stderr. */
function notesFor(context: Context, globals: GlobalOptions, masked: (text: string) => string) {
  let view: ProgressView | undefined;
  const line: Io["line"] = async (text, { wrap, isCommand = false } = { wrap: true }) => {
    // JSON stays on one line.
    const width = wrap && !globals.json ? lineWidth(context.stderr) : null;
    const safe = wrappedText(masked(text), width);
    const { stderr } = context;
    if (isCommand && stderr.writeCommand) await stderr.writeCommand(`${safe}\n`);
    // While a bar is shown, lines are printed above it.
    else if (view?.above?.(safe) !== true) await stderr.write(`${safe}\n`);
  };
  return {
    line,
    async note(text: string) {
      if (!globals.quiet && !globals.json) await line(text);
    },
    view: () => view,
    async open(place: Pick<ProgressPlace, "paint" | "visible">, options?: { lines: boolean }) {
      const { progress, quiet, json } = globals;
      const isJson = progress === "json";
      // Programs that read stderr ask for progress.
      const silent = !progress || ((quiet || json) && !isJson);
      view = await createProgress({ ...place, context, silent, isJson }, options);
      return view;
    },
  };
}

/** Data on stdout, of which GitHub Actions carries out no line. */
function dataFor(context: Context, view: () => ProgressView | undefined, note: Io["note"]) {
  const data: Io["data"] = async (text) => {
    if (context.stdout.isTTY && text.length > 0)
      view()?.makeRoom?.(typeof text === "string" ? text.endsWith("\n") : text.at(-1) === 10);
    await context.stdout.write(text);
  };
  const isLog = isReadByGithub(context.env);
  let isNoted = false;
  const json = (text: string) => data(isLog ? withoutCommands(text, true) : text);
  return {
    data,
    json,
    text: (text: string) => data(isLog ? withoutCommands(text) : text),
    jsonData: (value: unknown) => json(jsonLine(value)),
    async csv(text: string) {
      if (isLog && !isNoted && withoutCommands(text) !== text) {
        isNoted = true;
        await note(carriedOut);
      }
      await data(text);
    },
  };
}

const carriedOut =
  "This CSV has text that GitHub Actions carries out if it is in a log. Write it to a file, or print ::stop-commands::TOKEN before it and ::TOKEN:: after it.";

const tooNarrow = (names: readonly string[]): string =>
  `The terminal is too narrow for: ${names.join(", ")}. To see all columns, add --format csv.`;

/** Prints a list into a file that appears when it is complete. */
async function writeList<Row>(
  file: OutputFile,
  printing: Printing<Row>,
  pages: Pages<Row>,
  target: ListTarget & { readonly format: ListFormat },
): Promise<number> {
  try {
    const write = (text: string) => file.write(text);
    const writeBytes = (bytes: Uint8Array) => file.writeBytes(bytes);
    const rows = await printList(printing, pages, target.format, { ...target, write, writeBytes });
    await file.commit();
    return rows;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

type StderrIo = Pick<Io, "json" | "line" | "visible">;

/** Prints a warning and its next step on stderr: JSON with `--json`, nothing with `--quiet`. */
export async function warn({ io }: { readonly io: Io }, message: string, hint?: string): Promise<void> {
  if (io.quiet) return;
  if (io.json) return io.line(jsonLine({ warning: { message: io.visible(message), hint } }).trimEnd());
  const words = `${io.paintNote.yellow("warning:")} ${io.visible(message)}`;
  await io.line(hint === undefined ? words : `${words}\n${hint}`);
}

/** Prints a line on stderr whatever the flags; as a warning with `--json`, whose lines are all JSON. */
export async function printLine({ io }: { readonly io: StderrIo }, text: string): Promise<void> {
  const shown = io.visible(text);
  await io.line(io.json ? jsonLine({ warning: { message: shown } }).trimEnd() : shown);
}

/** Prints a request on stderr, as `--verbose` does: a line of text, or with `--json` an object. */
export async function showRequest(io: StderrIo, exchange: ExchangeLog): Promise<void> {
  if (!io.json) return io.line(io.visible(describeExchange(exchange)));
  const request = {
    method: exchange.method,
    url: io.visible(`${exchange.origin}${exchange.path}`),
    status: exchange.status,
    error: exchange.status === null ? exchange.error : null,
    ms: Math.round(exchange.ms),
    attempt: exchange.attempt,
    request_id: exchange.requestId === null ? null : io.visible(exchange.requestId),
    idempotency_key: exchange.idempotencyKey,
    api_key: exchange.apiKey,
    replayed: exchange.replayed,
  };
  await io.line(jsonLine({ request }).trimEnd());
}

/** Throws UsageError for a workbook that would be printed on a terminal. `instead` is what to add. */
export function rejectTerminal({ stdout }: Context, instead: string): void {
  if (!stdout.isTTY) return;
  throw new UsageError("cannot write a workbook to the terminal", {
    hint: `Add ${instead}, or send it to a file.`,
  });
}
