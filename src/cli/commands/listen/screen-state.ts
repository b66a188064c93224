import type { Delivery, HandlerResponse } from "../../../flows/listen/forward.ts";
import type { EventLine } from "../../../flows/listen/log-lines.ts";

export interface ShownEvent {
  readonly event: EventLine;
  readonly delivery: Delivery;
  /** An earlier listener received it but did not show it. */
  readonly isMissed: boolean;
  readonly responses: readonly HandlerResponse[];
  /** More about its resource (`--details`). */
  readonly details: string | null;
}

export interface ScreenState {
  /** Oldest first. */
  readonly events: readonly ShownEvent[];
  /** The ID of the selected event; null follows the newest. */
  readonly selected: string | null;
  readonly mode: "list" | "details" | "filter" | "warnings";
  /** Only events that contain this text are listed. */
  readonly filter: string;
  /** The first line of the details on the screen. */
  readonly scroll: number;
  /** The latest note. */
  readonly message: string;
  /** The latest warning and its next step, until Esc. */
  readonly warning: readonly string[];
  /** All warnings, the latest last: sentences for each. */
  readonly warnings: readonly (readonly string[])[];
}

export const emptyScreen: ScreenState = {
  events: [],
  selected: null,
  mode: "list",
  filter: "",
  scroll: 0,
  message: "",
  warning: [],
  warnings: [],
};

/** A key as `node:readline` reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  /** The typed character. */
  readonly sequence?: string | undefined;
}

/** The events that the filter lets through. */
export const listed = ({ events, filter }: ScreenState): readonly ShownEvent[] =>
  filter === ""
    ? events
    : events.filter(({ event }) =>
        `${event.type} ${event.body}`.toLowerCase().includes(filter.toLowerCase()),
      );

/** The selected event; null without events. */
export function selectedEvent(state: ScreenState): ShownEvent | null {
  const shown = listed(state);
  return shown.find(({ event }) => event.id === state.selected) ?? shown.at(-1) ?? null;
}

/** The screen after a key press, and what else it asks for. `page` is the number of lines of a page. */
export function afterKey(
  state: ScreenState,
  key: Key,
  page: number,
): { state: ScreenState; act: "quit" | "resend" | null } {
  const to = (change: Partial<ScreenState>, act: "quit" | "resend" | null = null) => ({
    state: { ...state, message: "", ...change },
    act,
  });
  if (key.ctrl && (key.name === "c" || key.name === "d")) return to({}, "quit");
  if (state.mode === "filter") return to(inFilter(state, key));
  if (key.name === "q") return to({}, "quit");
  if (key.name === "r") return to({}, selectedEvent(state) === null ? null : "resend");
  return to(state.mode === "list" ? inList(state, key, page) : inText(state, key, page));
}

/** While the filter is typed. */
function inFilter({ filter }: ScreenState, { name, ctrl, sequence }: Key): Partial<ScreenState> {
  if (name === "return" || name === "enter") return { mode: "list" };
  if (name === "escape") return { mode: "list", filter: "" };
  if (name === "backspace") return { filter: filter.slice(0, -1) };
  const isText = !ctrl && sequence !== undefined && /^[\x20-\x7e\u00a0-\uffff]$/.test(sequence);
  return isText ? { filter: filter + sequence, selected: null } : {};
}

/** The lines or events that a key moves by; null for another key. */
function keyStep({ name = "" }: Key, page: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: -page,
    pagedown: page,
    home: Number.NEGATIVE_INFINITY,
  };
  return steps[name] ?? null;
}

function inList(state: ScreenState, key: Key, page: number): Partial<ScreenState> {
  const step = keyStep(key, page);
  if (step !== null) return moved(state, step);
  const selected = selectedEvent(state);
  switch (key.name) {
    case "end":
      return { selected: null };
    case "return":
    case "enter":
      return selected === null ? {} : { mode: "details", selected: selected.event.id, scroll: 0 };
    case "escape":
      return { filter: "", selected: null, warning: [] };
    case "w":
      return state.warnings.length === 0 ? {} : { mode: "warnings", scroll: 0, warning: [] };
    default:
      return key.sequence === "/" ? { mode: "filter" } : {};
  }
}

/** Of a text instead of the list: an event, or the warnings. */
function inText(state: ScreenState, key: Key, page: number): Partial<ScreenState> {
  const step = keyStep(key, page);
  if (step !== null) return { scroll: Math.max(0, state.scroll + step) };
  return ["return", "enter", "escape", "left", "w"].includes(key.name ?? "") ? { mode: "list" } : {};
}

/** The last event is followed, so that new ones stay in view. */
function moved(state: ScreenState, by: number): Partial<ScreenState> {
  const shown = listed(state);
  const at = shown.indexOf(selectedEvent(state)!);
  const next = Math.min(shown.length - 1, Math.max(0, at + by));
  return { selected: next === shown.length - 1 ? null : (shown[next]?.event.id ?? null) };
}
