import type { Client } from "../../../../client/client.ts";
import type { ListenView } from "../../../../flows/listen/deliveries.ts";
import type { EventLine } from "../../../../flows/listen/log-lines.ts";
import { counted } from "../../../../flows/words.ts";
import type { App } from "../../../app/app.ts";
import { jsonLine } from "../../../output/json.ts";
import { detailsOf } from "./details.ts";
import { eventLine, missingText, responseLine } from "./event-words.ts";
import { joinedWrites } from "./joined-writes.ts";
import { notShown, problemNotes } from "./problem-notes.ts";
import { warn } from "./warn.ts";

export interface PlainViewOptions {
  /** Writes lines of events and responses. */
  readonly write: (text: string) => Promise<void>;
  /** Fetches details with this client; null without `--details`. */
  readonly client: Client | null;
  readonly signal: AbortSignal;
}

export interface PlainView extends ListenView {
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
      const details = await detailsOf(client, event, signal);
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
    onRepeated({ id, type }, urls) {
      const again = urls.length === 0 ? "" : `; sending it again to ${counted(urls.length, "handler")}`;
      void io.note(visible(`Received ${type} ${id} again${again}.`));
    },
    onProblem,
    async close() {
      if (skipped() > 0) await warn(app, notShown(skipped()));
    },
  };
}
