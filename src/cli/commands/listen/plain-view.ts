import type { Client } from "../../../client/client.ts";
import type { ListenView } from "../../../flows/listen/deliveries.ts";
import type { EventLine } from "../../../flows/listen/log-lines.ts";
import type { App } from "../../app/app.ts";
import { warn } from "../../output/io.ts";
import { jsonLine } from "../../output/visible.ts";
import { eventLine, fetchDetails, missingText, repeatedText, responseLine } from "./event-words.ts";
import { notShown, problemNotes } from "./problem-notes.ts";

interface PlainViewOptions {
  readonly write: (text: string) => Promise<void>;
  /** Fetches details with this client; null without `--details`. */
  readonly client: Client | null;
  readonly signal: AbortSignal;
}

interface PlainView extends ListenView {
  /** Reports how many problems were not shown. */
  close(): Promise<void>;
}

/** Prints one line per event and response, or one JSON object per event with `--json`. */
export function plainView(app: App, { client, signal, ...options }: PlainViewOptions): PlainView {
  const write = joinedWrites(options.write);
  const { io, context } = app;
  const { visible } = io;
  const { onProblem, skipped } = problemNotes(
    context.clock,
    (message, hint) => void warn(app, message, hint),
  );
  const showDetails = async (event: EventLine) => {
    if (client === null) return;
    try {
      const details = await fetchDetails(client, event, signal);
      if (details !== null) await write(`          ${visible(details)}\n`);
    } catch (error) {
      if (!signal.aborted) onProblem(`cannot fetch the details of ${event.id}: ${(error as Error).message}`);
    }
  };
  const printer =
    (isMissed: boolean): ListenView["onEvent"] =>
    async (event, _delivery, onShowing) => {
      if (io.json) {
        const { id, type, created_at, data, received_at } = event;
        const mark = isMissed && { missed: true };
        return write(jsonLine({ id, type, created_at, data, received_at, ...mark }), onShowing);
      }
      await write(`${eventLine(event, io.paint, visible)}\n`, onShowing);
      void showDetails(event);
    };
  return {
    onEvent: printer(false),
    onMissing: (count) => io.note(missingText(count)),
    onMissed: printer(true),
    onHandled(event, response) {
      if (!io.json) write(`${responseLine(event, response, io.paint, visible)}\n`).catch(() => {});
    },
    onRepeated: (event, urls) => void io.note(visible(repeatedText(event, urls))),
    onProblem,
    async close() {
      if (skipped() > 0) await warn(app, notShown(skipped()));
    },
  };
}

/**
 * Joins texts that are written in one turn of the event loop into one write: events that go to the log
 * together are printed together. Each call resolves or rejects with its write. Of the functions that are
 * called right before a write, the last one is.
 */
export function joinedWrites(
  write: (text: string) => Promise<void>,
): (text: string, before?: () => void) => Promise<void> {
  let waiting: { text: string; before: (() => void) | undefined; readonly written: Promise<void> } | null =
    null;
  return (text, before) => {
    if (waiting !== null) {
      waiting.text += text;
      waiting.before = before ?? waiting.before;
      return waiting.written;
    }
    // After the promises that are settled now: they may add more.
    const written = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      const joined = waiting!;
      waiting = null;
      joined.before?.();
      return write(joined.text);
    });
    waiting = { text, before, written };
    return written;
  };
}
