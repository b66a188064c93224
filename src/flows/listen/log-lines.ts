import { createReadStream, existsSync } from "node:fs";
import split2 from "split2";
import { asFileError, CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";

export type NamedEvent = Pick<EventLine, "id" | "type">;

/** An event as the log keeps it, one line of JSON. */
export interface EventLine {
  readonly id: string;
  readonly type: string;
  readonly created_at: string | null;
  readonly data: unknown;
  /** RFC 3339. */
  readonly received_at: string;
  /** The value of the signature header; null for an event without one. */
  readonly header: string | null;
  /** The body as it arrived, byte for byte: signed bodies are valid UTF-8. */
  readonly body: string;
  /** Made by `--poll`, not by the service. */
  readonly synthetic?: true;
  /** The URLs of the handlers that were to get the event when it arrived. */
  readonly handlers?: readonly string[];
}

export interface ResultLine {
  /** The ID of the event. */
  readonly result_of: string;
  readonly url: string;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** The first line of the response. */
  readonly line?: string;
  /** Why there was no response. */
  readonly error?: string;
  /** RFC 3339. */
  readonly at: string;
}

type LogLine = EventLine | ResultLine;

export const isResult = (line: LogLine): line is ResultLine => "result_of" in line;

/** Whether a handler has accepted the event: any 2xx. */
export const isAccepted = ({ status }: Pick<ResultLine, "status">): boolean =>
  status !== null && status >= 200 && status < 300;

/** A body has 1 MB at most, which JSON makes six times as long at worst. Longer lines are skipped. */
const cutting = { maxLength: 16 * 1024 * 1024, skipOverflow: true };

/**
 * The lines of an event log, oldest first, in flat memory. An event may be repeated; its first line counts. A
 * line that a killed process left incomplete is skipped. Throws a CatError of type `file` if the file cannot
 * be read, or of type `input` (code `not_a_log`) if it starts with something else.
 */
export async function* readLog(path: string): AsyncGenerator<LogLine, void, undefined> {
  const file = createReadStream(path);
  const lines = file.pipe(split2(cutting));
  // `pipe` does not pass errors on.
  file.on("error", (error) => lines.destroy(error));
  // An incomplete first line still starts like one.
  let isFirst = true;
  try {
    for await (const text of lines as AsyncIterable<string>) {
      const line = parsed(text);
      if (line !== null) yield line;
      else if (isFirst && !'{"'.startsWith(text.slice(0, 2))) throw notALog(path);
      isFirst = false;
    }
  } catch (error) {
    throw asFileError(error);
  } finally {
    file.destroy();
  }
}

function parsed(text: string): LogLine | null {
  try {
    const line = parseJson(text) as Record<string, unknown> | null;
    const { id, result_of: resultOf, url, body } = line ?? {};
    const isLine =
      typeof resultOf === "string"
        ? typeof url === "string"
        : typeof id === "string" && typeof body === "string";
    return isLine ? (line as unknown as LogLine) : null;
  } catch {
    return null;
  }
}

const notALog = (path: string): CatError =>
  new CatError(`${path} is not an event log`, {
    type: "file",
    code: "not_a_log",
    hint: "Choose another file with --log.",
  });

/** The events that a handler has not accepted: it failed, or a kill came before its response. */
export class UnacceptedEvents {
  /** The handlers that have not accepted an event, by its ID, and when it arrived (RFC 3339). */
  readonly #open = new Map<string, { readonly handlers: Set<string>; readonly receivedAt: string }>();

  /** Adds an event: the first line with its ID. */
  add({ id, handlers = [], received_at: receivedAt }: EventLine): void {
    if (handlers.length > 0) this.#open.set(id, { handlers: new Set(handlers), receivedAt });
  }

  /** Forgets the events that arrived before a time, in milliseconds since 1970. */
  forgetBefore(time: number): void {
    for (const [id, { receivedAt }] of this.#open) if (Date.parse(receivedAt) < time) this.#open.delete(id);
  }

  addResult(result: ResultLine): void {
    if (!isAccepted(result)) return;
    const handlers = this.#open.get(result.result_of)?.handlers;
    handlers?.delete(result.url);
    if (handlers?.size === 0) this.#open.delete(result.result_of);
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  get count(): number {
    return this.#open.size;
  }

  get urls(): readonly string[] {
    return [...new Set([...this.#open.values()].flatMap(({ handlers }) => [...handlers]))];
  }
}

interface EventSelection {
  /** Event IDs; empty for every event that the other conditions select. */
  readonly ids: readonly string[];
  /** The earliest time of arrival, in Unix milliseconds; null for any. */
  readonly since: number | null;
  /** Only events that a handler has not accepted. */
  readonly failed: boolean;
}

/** The selected events, oldest first, and the given IDs that the log does not have. */
interface LoggedEvents {
  readonly events: readonly EventLine[];
  readonly unknown: readonly string[];
}

/** Reads the events of a log that are meant; a missing one has none, unless needed. Throws as `readLog`. */
export async function loggedEvents(
  path: string,
  { ids, since, failed, mustExist }: EventSelection & { readonly mustExist: boolean },
): Promise<LoggedEvents> {
  const wanted = new Set(ids);
  const events = new Map<string, EventLine>();
  const unaccepted = new UnacceptedEvents();
  const isMeant = ({ id, received_at: at }: EventLine) =>
    (wanted.size === 0 || wanted.has(id)) && (since === null || Date.parse(at) >= since);
  if (!mustExist && !existsSync(path)) return { events: [], unknown: [...wanted] };
  for await (const line of readLog(path)) {
    if (isResult(line)) unaccepted.addResult(line);
    else if (!events.has(line.id) && isMeant(line)) {
      events.set(line.id, line);
      unaccepted.add(line);
    }
  }
  return {
    events: [...events.values()].filter(({ id }) => !failed || unaccepted.has(id)),
    unknown: [...wanted].filter((id) => !events.has(id)),
  };
}
