import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import {
  type Control,
  type Frame,
  type Jobs,
  type RequestFrame,
  type RequestRow,
  type Status,
  type View,
  views,
  type Webhooks,
} from "../data.ts";
import { ControlTab } from "./control.tsx";
import { JobsTab } from "./jobs.tsx";
import { type Run, toTime } from "./parts.tsx";
import { ProductsTab } from "./products.tsx";
import { RequestsTab } from "./requests.tsx";
import { WebhooksTab } from "./webhooks.tsx";

/** The state of the page; replaced as a whole by each frame. */
interface LiveState {
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

const nothingYet: LiveState = {
  isConnected: false,
  status: null,
  rows: [],
  life: "",
  products: 0,
  jobs: null,
  webhooks: null,
  control: null,
};

/** The stream of events: one, closed while the page is hidden, because a browser opens six per server. */
class Live {
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

const titles: Record<View, string> = {
  requests: "Requests",
  products: "Products",
  jobs: "Jobs",
  webhooks: "Webhooks",
  control: "Control",
};

/** The number of a tab: how much there is, or how much goes on. */
const counts: Record<View, (status: Status) => number> = {
  requests: ({ requests }) => requests,
  products: ({ products }) => products,
  jobs: ({ running }) => running,
  webhooks: ({ pending }) => pending,
  control: ({ faults }) => faults,
};

/** Null until it is known what a URL without a tab opens on. */
const viewInUrl = (): View | null => views.find((view) => `#${view}` === location.hash) ?? null;

/** Products, which people come for; what has failed, for those who search for the reason. */
const firstView = ({ has_failed, products }: Status): View =>
  has_failed || products === 0 ? "requests" : "products";

function Page() {
  const [state, setState] = useState(nothingYet);
  const [chosen, setChosen] = useState(viewInUrl);
  const [message, setMessage] = useState<{ text: string; isError: boolean } | null>(null);
  const [live] = useState(() => new Live(setState));

  const { status, isConnected } = state;
  const view = chosen ?? (status === null ? null : firstView(status));
  // The first tab stays: a request that fails later changes none.
  if (view !== chosen) setChosen(view);
  useEffect(() => live.show(view ?? "requests"), [live, view]);
  useEffect(() => {
    const onHash = () => setChosen(viewInUrl());
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      const wanted = views[Number(event.key) - 1];
      if (wanted !== undefined) location.hash = wanted;
      if (event.key !== "/") return;
      const search = document.querySelector<HTMLInputElement>("input[type=search]");
      if (search === null) return;
      event.preventDefault();
      search.focus();
      search.select();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    if (message === null || message.isError) return;
    const timer = setTimeout(() => setMessage(null), 4_000);
    return () => clearTimeout(timer);
  }, [message]);
  const run: Run = useCallback((action) => {
    action().then(
      (text) => setMessage(text === "" ? null : { text, isError: false }),
      (error: Error) => setMessage({ text: error.message, isError: true }),
    );
  }, []);

  const hasSecretKeys = status?.has_secret_keys ?? false;
  return (
    <>
      <header>
        <h1>Mock service</h1>
        <p class="where">
          <span class={isConnected ? "dot on" : "dot"} aria-hidden="true" />
          <span>{isConnected ? location.host : "not connected"}</span>
        </p>
        {status !== null && (
          <p class="clock" title={`The clock of the mock: ${status.now}`}>
            {status.now.slice(0, 10)} <strong>{toTime(status.now)}</strong> UTC
          </p>
        )}
      </header>
      <nav aria-label="Tabs">
        {views.map((one, at) => (
          <a
            href={`#${one}`}
            aria-current={one === view ? "page" : undefined}
            aria-keyshortcuts={String(at + 1)}
          >
            {titles[one]}
            {status !== null && counts[one](status) > 0 && (
              <span class="count">{counts[one](status).toLocaleString("en")}</span>
            )}
          </a>
        ))}
      </nav>
      <main class={view ?? ""} aria-label={titles[view ?? "requests"]}>
        {view === "requests" && (
          <RequestsTab rows={state.rows} life={state.life} hasSecretKeys={hasSecretKeys} />
        )}
        {view === "products" && (
          <ProductsTab revision={state.products} hasSecretKeys={hasSecretKeys} run={run} />
        )}
        {view === "jobs" && <JobsTab jobs={state.jobs} />}
        {view === "webhooks" && <WebhooksTab webhooks={state.webhooks} run={run} />}
        {view === "control" && <ControlTab control={state.control} status={status} run={run} />}
      </main>
      <div class="message" role="status" aria-live="polite">
        {message !== null && (
          <p class={message.isError ? "error" : ""}>
            {message.text}
            <button type="button" class="small" onClick={() => setMessage(null)}>
              Close
            </button>
          </p>
        )}
      </div>
    </>
  );
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, select, textarea, dialog") !== null;

const root = document.getElementById("page")!;
root.textContent = "";
render(<Page />, root);
