import { emitKeypressEvents } from "node:readline";
import type { Client } from "../../../client/client.ts";
import type { ListenView } from "../../../flows/listen/deliveries.ts";
import type { OpenListener } from "../../../flows/listen/listen.ts";
import type { App } from "../../app/app.ts";
import { warn } from "../../output/io.ts";
import { type DrawOptions, drawScreen, lastScroll, pageHeight } from "./draw-screen.ts";
import { fetchDetails, missingText, repeatedText, spokenResponse } from "./event-words.ts";
import { notShown, problemNotes } from "./problem-notes.ts";
import { afterKey, emptyScreen, type Key, type ShownEvent, selectedEvent } from "./screen-state.ts";

interface ScreenOptions {
  /** Fetches details with this client; null without `--details`. */
  readonly client: Client | null;
  readonly signal: AbortSignal;
  readonly onQuit: () => void;
  /** Called when the terminal is closed. */
  readonly onHangUp: () => void;
}

interface ScreenView extends ListenView {
  /** Opens the screen. `title` says where events come from, `target` where they go. */
  open(
    texts: { title: string; target: string; secret?: string | undefined },
    resend: OpenListener["resend"],
  ): void;
  note(sentence: string): void;
  /** Closes the screen, leaves the terminal as it was, and prints the warnings, which left with the screen. */
  close(): Promise<void>;
}

/** Older events leave the screen; the log has them. */
const mostEvents = 1_000;

/** The warnings that are printed at the end. */
const mostWarnings = 20;

const toSentences = (message: string, hint: string | undefined): string[] => [
  `warning: ${message}`,
  ...(hint === undefined ? [] : [hint]),
];

const sequences = {
  open: "\x1b[?1049h\x1b[?25l",
  close: "\x1b[?25h\x1b[?1049l",
  home: "\x1b[H",
  toEnd: "\x1b[K",
  below: "\x1b[J",
};

/** Shows events on the complete terminal, and reacts to keys; null unless both sides are a terminal that can be drawn on. */
export function openScreen(app: App, { client, signal, onQuit, onHangUp }: ScreenOptions): ScreenView | null {
  const { context, globals, io } = app;
  const { stdout, clock, env } = context;
  const stdin = context.stdin as NodeJS.ReadStream;
  const canDraw = stdin.isTTY && stdout.isTTY && env.TERM !== "dumb";
  if (!canDraw || !globals.input || globals.json || globals.quiet) return null;
  const raw = stdout.raw as NodeJS.WriteStream;
  let state = emptyScreen;
  let texts: Pick<DrawOptions, "title" | "target" | "secret"> = { title: "", target: "" };
  let resend: OpenListener["resend"] = async () => [];
  let isOpen = false;
  let isPlanned = false;

  const options = (): DrawOptions => {
    const { columns, rows } = stdout;
    return { columns, rows, ...texts, paint: io.paint, visible: io.visible };
  };
  const draw = () => {
    isPlanned = false;
    if (!isOpen) return;
    const lines = drawScreen(state, options());
    raw.write(
      `${sequences.home}${lines.map((line) => `${line}${sequences.toEnd}`).join("\r\n")}${sequences.below}`,
    );
  };
  /** Many changes at once are drawn once. */
  const change = (next: Partial<typeof state>) => {
    state = { ...state, ...next };
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(draw);
  };
  const update = (id: string, by: (one: ShownEvent) => ShownEvent) =>
    change({ events: state.events.map((entry) => (entry.event.id === id ? by(entry) : entry)) });
  const onKey = (_text: string | undefined, key: Key) => {
    const { state: next, act } = afterKey(state, key, pageHeight(state, options()));
    // Scrolling ends with the text.
    change({
      ...next,
      scroll: Math.min(next.scroll, lastScroll(next, options())),
    });
    if (act === "quit") {
      // Ctrl-C is a signal again while handlers finish.
      leave();
      onQuit();
    }
    if (act === "resend") void sendAgain();
  };
  const sendAgain = async () => {
    const { event, delivery } = selectedEvent(state)!;
    change({ message: `Sending ${event.type} again.` });
    const responses = await resend(event, delivery);
    const said = responses.map(({ url, ...response }) => `${spokenResponse(response)} (${url})`).join("; ");
    change({
      message: said === "" ? "No handler: use --forward-to URL." : `Sent ${event.type} again: ${said}`,
    });
  };
  const showDetails = async (entry: ShownEvent) => {
    if (client === null) return;
    const details = await fetchDetails(client, entry.event, signal).catch((error: Error) => error.message);
    update(entry.event.id, (now) => ({ ...now, details }));
  };
  const adder =
    (isMissed: boolean): ListenView["onEvent"] =>
    (event, delivery, onShowing) => {
      onShowing();
      const entry: ShownEvent = { event, delivery, isMissed, responses: [], details: null };
      change({ events: [...state.events, entry].slice(-mostEvents) });
      void showDetails(entry);
    };
  const unregister = context.onStop(() => void raw.write(sequences.close));

  const warnings = new Map<string, readonly [message: string, hint: string | undefined]>();
  let dropped = 0;
  const { onProblem, skipped } = problemNotes(clock, (message, hint) => {
    // Repeated ones move to the end.
    warnings.delete(message);
    warnings.set(message, [message, hint]);
    if (warnings.size > mostWarnings) {
      dropped++;
      warnings.delete(warnings.keys().next().value!);
    }
    const shown = [...warnings.values()].map(([text, step]) => toSentences(text, step));
    change({ warning: toSentences(message, hint), warnings: shown });
  });
  const leave = () => {
    unregister();
    if (!isOpen) return;
    isOpen = false;
    stdin.off("keypress", onKey).off("end", onHangUp);
    raw.off("resize", draw);
    stdin.setRawMode?.(false);
    stdin.pause();
    raw.write(sequences.close);
  };

  return {
    open(where, how) {
      [texts, resend, isOpen] = [where, how, true];
      raw.write(sequences.open);
      emitKeypressEvents(stdin);
      stdin.setRawMode?.(true);
      stdin.on("keypress", onKey).on("end", onHangUp);
      stdin.resume();
      raw.on("resize", draw);
      draw();
    },
    async close() {
      leave();
      for (const [message, hint] of warnings.values()) await warn(app, message, hint);
      const more = dropped + skipped();
      if (more > 0) await warn(app, notShown(more));
    },
    note(sentence) {
      if (isOpen) change({ message: sentence });
      else void io.note(io.visible(sentence));
    },
    onEvent: adder(false),
    onMissing: (count) => change({ message: missingText(count).replace(/:$/, ".") }),
    onMissed: adder(true),
    onHandled: ({ id }, response) =>
      update(id, (entry) => ({ ...entry, responses: [...entry.responses, response] })),
    onRepeated: (event, urls) => change({ message: repeatedText(event, urls) }),
    onProblem,
  };
}
