import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Status, type View, views } from "../data.ts";
import { ControlTab } from "./control.tsx";
import { JobsTab } from "./jobs.tsx";
import { Live, nothingYet } from "./live.ts";
import { type Run, timeOf } from "./parts.tsx";
import { ProductsTab } from "./products.tsx";
import { RequestsTab } from "./requests.tsx";
import { WebhooksTab } from "./webhooks.tsx";

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

const viewInUrl = (): View => views.find((view) => `#${view}` === location.hash) ?? "requests";

function Page() {
  const [state, setState] = useState(nothingYet);
  const [view, setView] = useState(viewInUrl);
  const [message, setMessage] = useState<{ text: string; isError: boolean } | null>(null);
  const [live] = useState(() => new Live(setState));

  useEffect(() => live.show(view), [live, view]);
  useEffect(() => {
    const onHash = () => setView(viewInUrl());
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

  const { status, isConnected } = state;
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
            {status.now.slice(0, 10)} <strong>{timeOf(status.now)}</strong> UTC
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
      <main class={view} aria-label={titles[view]}>
        {view === "requests" && <RequestsTab rows={state.rows} life={state.life} />}
        {view === "products" && <ProductsTab revision={state.products} run={run} />}
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
