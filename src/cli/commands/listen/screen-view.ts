import { emitKeypressEvents } from "node:readline";
import type { Client } from "../../../client/client.ts";
import type { ListenView } from "../../../flows/listen/deliveries.ts";
import type { OpenListener } from "../../../flows/listen/listener.ts";
import type { App } from "../../app/app.ts";
import { warn } from "../../output/io.ts";
import { type DrawOptions, drawScreen, lastScroll, pageHeight } from "./draw-screen.ts";
import { fetchDetails, missingText, repeatedText, spokenResponse } from "./event-words.ts";
import { notShown, problemNotes } from "./problem-notes.ts";
import {
  afterKey,
  emptyScreen,
  type Key,
  type ScreenState,
  type ShownEvent,
  selectedEvent,
} from "./screen-state.ts";

interface ScreenOptions {
  /** Fetches details with this client; null without `--details`. */
  readonly client: Client | null;
  readonly signal: AbortSignal;
  readonly onQuit: () => void;
  readonly onHangUp: () => void;
}

interface ScreenView extends ListenView {
  /** Opens the screen. `title` says where events come from, `target` where they go. */
  open(
    texts: { title: string; target: string; secret?: string | undefined },
    resend: OpenListener["resend"],
  ): void;
  note(sentence: string): void;
  /** Closes the screen, restores the terminal, and prints the warnings, which left with the screen. */
  close(): Promise<void>;
}

/** Older events leave the screen; the log has them. */
const mostEvents = 1_000;

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

/** The screen on the complete terminal; null unless both sides are a terminal that can be drawn on. */
export function openScreen(app: App, options: ScreenOptions): ScreenView | null {
  const { context, globals } = app;
  const stdin = context.stdin as NodeJS.ReadStream;
  const canDraw = stdin.isTTY && context.stdout.isTTY && context.env.TERM !== "dumb";
  return !canDraw || !globals.input || globals.json || globals.quiet ? null : new Screen(app, options);
}

class Screen implements ScreenView {
  readonly #app: App;
  readonly #options: ScreenOptions;
  readonly #stdin: NodeJS.ReadStream;
  readonly #raw: NodeJS.WriteStream;
  readonly #unregister: () => void;
  #state = emptyScreen;
  #texts: Pick<DrawOptions, "title" | "target" | "secret"> = { title: "", target: "" };
  #resend: OpenListener["resend"] = async () => [];
  #isOpen = false;
  #isDrawPlanned = false;
  readonly #warnings = new Map<string, readonly [message: string, hint: string | undefined]>();
  #droppedWarnings = 0;
  readonly #skipped: () => number;
  readonly onEvent: ListenView["onEvent"];
  readonly onMissed: ListenView["onMissed"];
  readonly onProblem: ListenView["onProblem"];

  constructor(app: App, options: ScreenOptions) {
    const { context } = app;
    this.#app = app;
    this.#options = options;
    this.#stdin = context.stdin as NodeJS.ReadStream;
    this.#raw = context.stdout.raw as NodeJS.WriteStream;
    this.#unregister = context.onStop(() => void this.#raw.write(sequences.close));
    this.onEvent = this.#adder(false);
    this.onMissed = this.#adder(true);
    const notes = problemNotes(context.clock, (message, hint) => this.#addWarning(message, hint));
    this.onProblem = notes.onProblem;
    this.#skipped = notes.skipped;
  }

  open(texts: Parameters<ScreenView["open"]>[0], resend: OpenListener["resend"]): void {
    [this.#texts, this.#resend, this.#isOpen] = [texts, resend, true];
    this.#raw.write(sequences.open);
    emitKeypressEvents(this.#stdin);
    this.#stdin.setRawMode?.(true);
    this.#stdin.on("keypress", this.#onKey).on("end", this.#options.onHangUp);
    this.#stdin.resume();
    this.#raw.on("resize", this.#draw);
    this.#draw();
  }

  async close(): Promise<void> {
    this.#leave();
    for (const [message, hint] of this.#warnings.values()) await warn(this.#app, message, hint);
    const more = this.#droppedWarnings + this.#skipped();
    if (more > 0) await warn(this.#app, notShown(more));
  }

  note(sentence: string): void {
    const { io } = this.#app;
    if (this.#isOpen) this.#change({ message: sentence });
    else void io.note(io.visible(sentence));
  }

  readonly onMissing = (count: number): void =>
    this.#change({ message: missingText(count).replace(/:$/, ".") });

  readonly onHandled: ListenView["onHandled"] = ({ id }, response) =>
    this.#update(id, (entry) => ({ ...entry, responses: [...entry.responses, response] }));

  readonly onRepeated: ListenView["onRepeated"] = (event, urls) =>
    this.#change({ message: repeatedText(event, urls) });

  #drawOptions(): DrawOptions {
    const { io, context } = this.#app;
    const { columns, rows } = context.stdout;
    return { columns, rows, ...this.#texts, paint: io.paint, visible: io.visible };
  }

  readonly #draw = (): void => {
    this.#isDrawPlanned = false;
    if (!this.#isOpen) return;
    const lines = drawScreen(this.#state, this.#drawOptions()).map((line) => `${line}${sequences.toEnd}`);
    this.#raw.write(`${sequences.home}${lines.join("\r\n")}${sequences.below}`);
  };

  /** Many changes at once are drawn once. */
  #change(next: Partial<ScreenState>): void {
    this.#state = { ...this.#state, ...next };
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    setImmediate(this.#draw);
  }

  #update(id: string, by: (one: ShownEvent) => ShownEvent): void {
    this.#change({ events: this.#state.events.map((entry) => (entry.event.id === id ? by(entry) : entry)) });
  }

  readonly #onKey = (_text: string | undefined, key: Key): void => {
    const { state, act } = afterKey(this.#state, key, pageHeight(this.#state, this.#drawOptions()));
    // Scrolling ends with the text.
    this.#change({ ...state, scroll: Math.min(state.scroll, lastScroll(state, this.#drawOptions())) });
    if (act === "quit") {
      // Ctrl-C is a signal again while handlers finish.
      this.#leave();
      this.#options.onQuit();
    }
    if (act === "resend") void this.#sendAgain();
  };

  async #sendAgain(): Promise<void> {
    const { event, delivery } = selectedEvent(this.#state)!;
    this.#change({ message: `Sending ${event.type} again.` });
    const responses = await this.#resend(event, delivery);
    const said = responses.map(({ url, ...response }) => `${spokenResponse(response)} (${url})`).join("; ");
    const message = said === "" ? "No handler: use --forward-to URL." : `Sent ${event.type} again: ${said}`;
    this.#change({ message });
  }

  #adder(isMissed: boolean): ListenView["onEvent"] {
    return (event, delivery, onShowing) => {
      onShowing();
      const entry: ShownEvent = { event, delivery, isMissed, responses: [], details: null };
      this.#change({ events: [...this.#state.events, entry].slice(-mostEvents) });
      void this.#showDetails(entry);
    };
  }

  async #showDetails({ event }: ShownEvent): Promise<void> {
    const { client, signal } = this.#options;
    if (client === null) return;
    const details = await fetchDetails(client, event, signal).catch((error: Error) => error.message);
    this.#update(event.id, (now) => ({ ...now, details }));
  }

  #addWarning(message: string, hint: string | undefined): void {
    // Repeated ones move to the end.
    this.#warnings.delete(message);
    this.#warnings.set(message, [message, hint]);
    if (this.#warnings.size > mostWarnings) {
      this.#droppedWarnings++;
      this.#warnings.delete(this.#warnings.keys().next().value!);
    }
    const warnings = [...this.#warnings.values()].map(([text, step]) => toSentences(text, step));
    this.#change({ warning: toSentences(message, hint), warnings });
  }

  #leave(): void {
    this.#unregister();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stdin.off("keypress", this.#onKey).off("end", this.#options.onHangUp);
    this.#raw.off("resize", this.#draw);
    this.#stdin.setRawMode?.(false);
    this.#stdin.pause();
    this.#raw.write(sequences.close);
  }
}
