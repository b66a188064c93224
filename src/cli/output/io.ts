import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import type { Column, ListFormat } from "./columns.ts";
import { jsonLine } from "./json.ts";
import { printList } from "./list.ts";
import type { Paint } from "./paint.ts";
import { createProgress } from "./progress.ts";
import type { ProgressView } from "./progress-view.ts";
import { resourceLines } from "./resource.ts";
import { visible } from "./visible.ts";

/** What a command says, and where: stdout is data, stderr is everything else (interface, Commands). */
export interface Io {
  /** With `--json`: data for programs, and nothing for people on stderr but errors and progress. */
  readonly json: boolean;
  readonly quiet: boolean;
  /** Colours for stdout and for stderr, each by whether it is a terminal. */
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** Writes text to stdout exactly as it is. */
  data(text: string | Uint8Array): Promise<void>;
  /** One JSON object on a line of its own on stdout. */
  jsonData(value: unknown): Promise<void>;
  /** A line for people on stderr; silent with `--quiet` and with `--json`. */
  note(text: string): Promise<void>;
  /** One line on stderr whatever the flags say, above a bar if there is one. */
  line(text: string): Promise<void>;
  /** Prints a list and tells how many rows it had. Without a format: NDJSON with `--json`, else a table. */
  show<Row>(
    columns: readonly Column<Row>[],
    rows: Iterable<Row> | AsyncIterable<Row>,
    format?: ListFormat,
  ): Promise<number>;
  /** Prints a single resource: one JSON object with `--json`, else a field a line. */
  resource(value: object): Promise<void>;
  /** Makes control characters visible and masks secrets; for any text of the service or of a file. */
  visible(text: string): string;
  /** A fresh view of a job's progress on stderr; `end()` it. */
  progress(): Promise<ProgressView>;
}

/** The io of a command. `globals` is read at each use, as flags are known only when the command line was parsed. */
export function createIo(
  context: Context,
  globals: GlobalOptions,
  { paint, paintNote, mask }: { paint: Paint; paintNote: Paint; mask: (text: string) => string },
): Io {
  let view: ProgressView | undefined;
  // A line that is written while a bar stands goes above it.
  const line = async (text: string) => {
    if (view?.above?.(mask(text)) !== true) await context.stderr.write(`${text}\n`);
  };
  const data = async (text: string | Uint8Array) => {
    if (context.stdout.isTTY && text.length > 0)
      view?.makeRoom?.(typeof text === "string" ? text.endsWith("\n") : text.at(-1) === 10);
    await context.stdout.write(text);
  };
  const io: Io = {
    get json() {
      return globals.json;
    },
    get quiet() {
      return globals.quiet;
    },
    paint,
    paintNote,
    data,
    jsonData: (value) => data(jsonLine(value)),
    async note(text) {
      if (!globals.quiet && !globals.json) await line(text);
    },
    line,
    show: (columns, rows, format = globals.json ? "ndjson" : "table") =>
      printList(columns, rows, format, {
        write: io.data,
        width: context.stdout.isTTY ? context.stdout.columns : null,
        heading: (text) => io.paint.bold(text),
        visible: io.visible,
        onDropped: (names) =>
          io.note(`Columns left out for lack of room: ${names.join(", ")}. To see them, add --format csv.`),
      }),
    resource: (value) =>
      globals.json ? io.jsonData(value) : io.data(resourceLines(value, (text) => io.paint.bold(text))),
    // Masked before it is cut to a width: of a secret that is cut nothing would be recognized.
    visible: (text) => visible(mask(text)),
    async progress() {
      view = await createProgress({
        context,
        silent: globals.quiet || !globals.progress,
        paint: io.paintNote,
        visible: io.visible,
      });
      return view;
    },
  };
  return io;
}
