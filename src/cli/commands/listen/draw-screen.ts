import stringWidth from "string-width";
import { isAccepted } from "../../../flows/listen/log-lines.ts";
import { counted } from "../../../flows/words.ts";
import { parseJson } from "../../../json.ts";
import type { Paint } from "../../output/paint.ts";
import { cut, folded, wrapped } from "../../output/wrapped.ts";
import { eventResource, spokenResponse, statusPaint, timeOfDay } from "./event-words.ts";
import { listed, type ScreenState, type ShownEvent, selectedEvent } from "./screen-state.ts";

export interface DrawOptions {
  readonly columns: number;
  readonly rows: number;
  /** Where the listener listens. */
  readonly title: string;
  /** Where events go; empty for nowhere. */
  readonly target: string;
  /** The signing secret, if it is to be shown. */
  readonly secret?: string | undefined;
  readonly paint: Paint;
  /** Makes control characters visible and masks secrets. */
  readonly visible: (text: string) => string;
}

/** The number of lines of the list, or of the details: the rest of the screen. */
export const pageHeight = ({ warning }: ScreenState, options: DrawOptions): number =>
  Math.max(1, options.rows - 4 - warningLines(warning, options).length);

/** The warning, wrapped, in at most half of the screen. */
function warningLines(warning: readonly string[], { columns, rows, visible }: DrawOptions): string[] {
  const lines = warning.flatMap((sentence) => wrapped(visible(sentence), columns));
  const most = Math.max(0, Math.floor((rows - 4) / 2));
  const fitting = lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1]} …`] : lines;
  return most === 0 ? [] : fitting.map((line) => cut(line, columns));
}

/** The first line of the text in view when its end is reached. */
export const lastScroll = (state: ScreenState, options: DrawOptions): number =>
  Math.max(0, (textLines(state, options)?.length ?? 0) - pageHeight(state, options));

/** The text instead of the list: the selected event, or all warnings; null for the list. */
function textLines(state: ScreenState, options: DrawOptions): string[] | null {
  const selected = selectedEvent(state);
  if (state.mode === "details" && selected !== null) return detailLines(selected, options);
  if (state.mode !== "warnings") return null;
  const { columns, visible, paint } = options;
  return state.warnings.flatMap((sentences) => [
    ...sentences
      .flatMap((line) => wrapped(visible(line), columns))
      .map((line) => paint.yellow(cut(line, columns))),
    "",
  ]);
}

/** The lines of the screen, none wider than it; at most as many as it has rows. */
export function drawScreen(state: ScreenState, options: DrawOptions): string[] {
  const { columns, title, target, paint, visible } = options;
  const shown = listed(state);
  const selected = selectedEvent(state);
  const page = pageHeight(state, options);
  const text = textLines(state, options);
  const body =
    text !== null
      ? text.slice(state.scroll, state.scroll + page)
      : state.filter !== "" && shown.length === 0
        ? [paint.dim(cut("No event matches the filter.", columns))]
        : listLines(shown, selected, page, options);
  const filter =
    state.mode === "filter" || state.filter !== ""
      ? `/${state.filter}${state.mode === "filter" ? "█" : ""}`
      : "";
  const count =
    state.filter === ""
      ? counted(shown.length, "event")
      : `${shown.length} of ${counted(state.events.length, "event")}`;
  const newer = selected === null ? 0 : shown.length - 1 - shown.indexOf(selected);
  const head = [title, count, newer === 0 ? "" : `${newer} newer`, filter, target]
    .filter(Boolean)
    .map(visible)
    .join(" · ");
  return [
    paint.bold(cut(head, columns)),
    options.secret === undefined ? "" : secretLine(options.secret, columns),
    ...body,
    ...Array.from({ length: Math.max(0, page - body.length) }, () => ""),
    ...warningLines(state.warning, options).map(paint.yellow),
    cut(visible(state.message), columns),
    paint.dim(cut(helpText(state, (text?.length ?? 0) - state.scroll - page), columns)),
  ];
}

/** The secret, without words where it needs their room. */
function secretLine(secret: string, columns: number): string {
  const line = `Signing secret: ${secret}`;
  return line.length <= columns ? line : cut(secret, columns);
}

/** The keys. `below` is the number of lines of the text below the screen. */
function helpText({ mode, warning, warnings }: ScreenState, below: number): string {
  if (mode === "filter") return "type to filter  Enter keep  Esc clear";
  const scroll = `↑↓ scroll${below > 0 ? ` (${counted(below, "more line")})` : ""}`;
  if (mode === "warnings") return `${scroll}  Enter back  q quit`;
  if (mode === "details") return `${scroll}  Enter back  r resend  q quit`;
  const hide = warning.length > 0 ? "  Esc hide warning" : "";
  const all = warnings.length > 0 ? `  w ${counted(warnings.length, "warning")}` : "";
  return `↑↓ select  Enter details  r resend  / filter  q quit${all}${hide}`;
}

/** Colors only columns that are there: a text is cut before it is colored. */
function listLines(
  shown: readonly ShownEvent[],
  selected: ShownEvent | null,
  page: number,
  { columns, paint, visible }: DrawOptions,
): string[] {
  if (shown.length === 0) return [paint.dim(cut("Waiting for events.", columns))];
  const statusWidth = Math.min(21, Math.max(9, columns - 60));
  const at = shown.indexOf(selected!);
  const from = Math.min(Math.max(0, shown.length - page), Math.max(0, at - Math.floor(page / 2)));
  return shown.slice(from, from + page).map((entry) => {
    const { event } = entry;
    const { id, status } = eventResource(event) ?? { id: event.id, status: "" };
    const [handled, isAll] = handledText(entry);
    const cells: readonly (readonly [text: string, width: number, color: (text: string) => string])[] = [
      [entry === selected ? "❯" : " ", 1, paint.cyan],
      // Its time of day could be of another day.
      [entry.isMissed ? "earlier" : timeOfDay(Date.parse(event.received_at)), 8, paint.dim],
      [visible(event.type), 16, entry === selected ? paint.bold : (text) => text],
      [visible(statusIn(status, statusWidth)), statusWidth, statusPaint(status, paint)],
      [visible(handled), 5, isAll ? paint.green : paint.red],
      [visible(id), columns, (text) => text],
    ];
    let remaining = columns;
    const drawn: string[] = [];
    for (const [text, width, by] of cells) {
      if (remaining <= 0) break;
      const room = Math.min(width, remaining);
      const fitted = cut(text, room);
      const gap = Math.min(remaining - stringWidth(fitted), room - stringWidth(fitted) + 1);
      drawn.push(by(fitted) + " ".repeat(Math.max(0, gap)));
      remaining -= room + 1;
    }
    return drawn.join("").trimEnd();
  });
}

/** `completed_with_errors` would be cut to its first word, which means the opposite. */
const statusIn = (status: string, width: number): string =>
  status.length > width ? status.replace(/^.*_with_/, "") : status;

/** The response of the handlers in short: the last failed one, else the last; `…` before the first. */
function handledText({ event, isMissed, responses }: ShownEvent): [text: string, isAccepted: boolean] {
  const last = new Map(responses.map((response) => [response.url, response]));
  const all = [...last.values()];
  const bad = all.findLast((response) => !isAccepted(response));
  const shownResponse = bad ?? all.at(-1);
  if (shownResponse === undefined) return [event.handlers === undefined || isMissed ? "" : "…", true];
  return [
    shownResponse.status === null ? "✗" : `${bad === undefined ? "✓" : "✗"} ${shownResponse.status}`,
    bad === undefined,
  ];
}

function detailLines(entry: ShownEvent, { columns, paint, visible }: DrawOptions): string[] {
  const { event, delivery, isMissed, responses, details } = entry;
  const lines: string[] = [];
  const add = (text: string, indent = "") => {
    for (const part of folded(visible(text), Math.max(1, columns - indent.length))) lines.push(indent + part);
  };
  const heading = (text: string) => lines.push("", paint.bold(cut(text, columns)));
  add(`${event.type}  ${event.id}`);
  add(
    `received ${event.received_at}${event.synthetic ? ", found by polling" : ""}${isMissed ? ", by an earlier listener" : ""}`,
  );
  if (details !== null) add(details);
  heading("Handlers");
  const none = isMissed ? "not sent by this listener; press r to send it" : "no response yet";
  if (responses.length === 0) add(event.handlers === undefined ? "none" : none, "  ");
  for (const { url, ...response } of responses) add(`${url}  ${spokenResponse(response)}`, "  ");
  heading("Headers");
  const { rawHeaders } = delivery;
  for (let at = 0; at < rawHeaders.length; at += 2) add(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`, "  ");
  heading("Payload");
  for (const line of pretty(event.body).split("\n")) add(line, "  ");
  return lines;
}

function pretty(body: string): string {
  try {
    return JSON.stringify(parseJson(body.replace(/^\uFEFF/, "")), null, 2);
  } catch {
    return body;
  }
}
