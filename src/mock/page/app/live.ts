import type { Control, Frame, Jobs, RequestFrame, RequestRow, Status, View, Webhooks } from "../data.ts";

/** What the page knows; replaced as a whole by each frame. */
export interface LiveState {
  readonly isConnected: boolean;
  readonly status: Status | null;
  /** Newest first. */
  readonly rows: readonly RequestRow[];
  readonly life: string;
  readonly products: number;
  readonly jobs: Jobs | null;
  readonly webhooks: Webhooks | null;
  readonly control: Control | null;
}

/** As many as the mock keeps. */
const mostRows = 1_000;

export const nothingYet: LiveState = {
  isConnected: false,
  status: null,
  rows: [],
  life: "",
  products: 0,
  jobs: null,
  webhooks: null,
  control: null,
};

/** The stream of events: one at a time, closed while the page is hidden, because a browser opens only six per server. */
export class Live {
  #state = nothingYet;
  #view: View = "requests";
  #source: EventSource | null = null;
  /** The last frame of the requests, to continue from there. */
  #lastId = "";
  readonly #onState: (state: LiveState) => void;

  constructor(onState: (state: LiveState) => void) {
    this.#onState = onState;
    document.addEventListener("visibilitychange", () => this.#open());
  }

  show(view: View): void {
    this.#view = view;
    this.#open();
  }

  #open(): void {
    this.#source?.close();
    this.#source = null;
    if (document.hidden) return;
    const query = new URLSearchParams({ view: this.#view, last_event_id: this.#lastId });
    const source = new EventSource(`_mock/events?${query}`);
    source.onmessage = ({ data, lastEventId }) => {
      const frame = JSON.parse(data) as Frame;
      if (frame.requests !== undefined) this.#lastId = lastEventId;
      this.#set(merged(this.#state, frame));
    };
    source.onerror = () => {
      this.#set({ ...this.#state, isConnected: false });
      // A browser gives up on a response that is not a stream, such as that of a proxy.
      if (source.readyState === EventSource.CLOSED)
        setTimeout(() => this.#source === source && this.#open(), 1_000);
    };
    this.#source = source;
  }

  #set(state: LiveState): void {
    this.#state = state;
    this.#onState(state);
  }
}

function merged(state: LiveState, { requests, ...parts }: Frame): LiveState {
  const next = { ...state, ...parts, isConnected: true };
  return requests === undefined ? next : { ...next, life: requests.life, rows: mergedRows(state, requests) };
}

/** The rows with the new ones, newest first; those of an earlier life are gone. */
function mergedRows(state: LiveState, { life, rows }: RequestFrame): RequestRow[] {
  const byNumber = new Map<number, RequestRow>();
  if (life === state.life) for (const row of state.rows) byNumber.set(row.number, row);
  for (const row of rows) byNumber.set(row.number, row);
  return [...byNumber.values()].sort((a, b) => b.number - a.number).slice(0, mostRows);
}
