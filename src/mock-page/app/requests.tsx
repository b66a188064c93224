import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RequestRow } from "../data.ts";
import { mockUrl } from "./api.ts";
import { Badge, Empty, kindOfStatus, Time } from "./parts.tsx";
import { RequestPanel } from "./request-panel.tsx";

const kinds = {
  all: "All",
  errors: "Errors",
  writes: "Writes",
  replays: "Replays",
  faults: "Faults",
} as const;
type Kind = keyof typeof kinds;

const isOfKind: Record<Kind, (row: RequestRow) => boolean> = {
  all: () => true,
  errors: ({ status, isOver }) => (status === null ? isOver : status >= 400),
  writes: ({ method }) => method !== "GET" && method !== "HEAD",
  replays: ({ replayed }) => replayed,
  faults: ({ faults }) => faults.length > 0,
};

/** Whether each word of the search occurs in what the list shows. */
function isFound(
  { method, path, status, code, key, idempotency_key }: RequestRow,
  words: readonly string[],
): boolean {
  const text =
    `${method} ${path} ${status ?? ""} ${code ?? ""} ${key ?? ""} ${idempotency_key ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The requests, newest first, and the selected one next to them. */
export function RequestsTab({
  rows,
  life,
  hasSecretKeys,
}: {
  rows: readonly RequestRow[];
  life: string;
  hasSecretKeys: boolean;
}) {
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState<Kind>("all");
  const [paused, setPaused] = useState<readonly RequestRow[] | null>(null);
  const [clearedTo, setClearedTo] = useState({ life: "", number: 0 });
  const [selected, setSelected] = useState<number | null>(null);
  const listed = paused ?? rows;
  const shown = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const from = clearedTo.life === life ? clearedTo.number : 0;
    return listed.filter((row) => row.number > from && isOfKind[kind](row) && isFound(row, words));
  }, [listed, search, kind, clearedTo, life]);
  // After a reset of the mock, another request has the number of the selected one.
  useEffect(() => {
    setSelected(null);
    setPaused(null);
  }, [life]);
  const selectedRow = rows.find(({ number }) => number === selected) ?? null;
  return (
    <div class={selected === null ? "split" : "split open"}>
      <div class="side">
        <search class="tools">
          <input
            type="search"
            aria-label="Filter requests"
            placeholder="Filter: path, status, code, key"
            aria-keyshortcuts="/"
            spellcheck={false}
            autocomplete="off"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          <select
            aria-label="Kind"
            value={kind}
            onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}
          >
            {Object.entries(kinds).map(([value, title]) => (
              <option value={value}>{title}</option>
            ))}
          </select>
          <button
            type="button"
            aria-pressed={paused !== null}
            onClick={() => setPaused(paused === null ? rows : null)}
          >
            Pause
          </button>
          <button type="button" onClick={() => setClearedTo({ life, number: rows[0]?.number ?? 0 })}>
            Clear
          </button>
        </search>
        {shown.length > 0 ? (
          <RequestList rows={shown} selected={selected} onSelect={setSelected} />
        ) : rows.length > 0 ? (
          <Empty title="No request matches." />
        ) : (
          <Empty title="No requests yet.">
            <p>Send one, for example:</p>
            <pre>{`curl -H "Authorization: Bearer ${hasSecretKeys ? "$CAT_API_KEY" : "ak_mock"}" ${mockUrl()}/v1/products`}</pre>
          </Empty>
        )}
      </div>
      {selected !== null && (
        <RequestPanel
          number={selected}
          row={selectedRow}
          onClose={() => setSelected(null)}
          onSelect={setSelected}
        />
      )}
    </div>
  );
}

/** Rows that are drawn beyond the visible ones. */
const margin = 10;

/** Only the visible rows are elements: a thousand would be slow to change ten times a second. */
function RequestList({
  rows,
  selected,
  onSelect,
}: {
  rows: readonly RequestRow[];
  selected: number | null;
  onSelect: (number: number | null) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const [{ top, height, rowHeight }, setPlace] = useState({ top: 0, height: 800, rowHeight: 29 });
  const newest = useRef(rows[0]?.number);
  const measure = () => {
    const one = list.current!;
    const rowHeight = Number.parseFloat(getComputedStyle(one).getPropertyValue("--row")) || 29;
    setPlace({ top: one.scrollTop, height: one.clientHeight, rowHeight });
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list.current!);
    return () => observer.disconnect();
  }, []);
  // A reader who has scrolled down keeps the rows in view, while new ones come above.
  useLayoutEffect(() => {
    const added = rows.findIndex(({ number }) => number === newest.current);
    newest.current = rows[0]?.number;
    if (added > 0 && list.current!.scrollTop > 0) list.current!.scrollTop += added * rowHeight;
  }, [rows, rowHeight]);

  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const visible = rows.slice(first, Math.ceil((top + height) / rowHeight) + margin);
  const at = rows.findIndex(({ number }) => number === selected);
  const go = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (row === undefined) return;
    onSelect(row.number);
    const place = rows.indexOf(row) * rowHeight;
    const one = list.current!;
    if (place < one.scrollTop) one.scrollTop = place;
    else if (place + rowHeight > one.scrollTop + one.clientHeight)
      one.scrollTop = place + rowHeight - one.clientHeight;
  };
  const moves: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    j: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    k: () => go(at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    Escape: () => onSelect(null),
  };
  return (
    <div
      class="rows"
      ref={list}
      role="listbox"
      aria-label="Requests"
      tabIndex={0}
      aria-activedescendant={at < 0 ? undefined : `request-${selected}`}
      onScroll={measure}
      onKeyDown={(event) => {
        const move = event.ctrlKey || event.metaKey ? undefined : moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        move();
      }}
    >
      <div class="all-rows" style={{ height: `${rows.length * rowHeight}px` }}>
        {visible.map((row, index) => (
          <Row
            key={row.number}
            row={row}
            top={(first + index) * rowHeight}
            place={[first + index + 1, rows.length]}
            isSelected={row.number === selected}
            onSelect={onSelect}
          />
        ))}
      </div>
    </div>
  );
}

const shownMs = (ms: number): string => (ms < 1 ? "<1 ms" : `${ms.toLocaleString("en")} ms`);

function Row({
  row,
  top,
  place,
  isSelected,
  onSelect,
}: {
  row: RequestRow;
  top: number;
  place: [number, number];
  isSelected: boolean;
  onSelect: (number: number) => void;
}) {
  const {
    number,
    at,
    method,
    path,
    status,
    isOver,
    code,
    duration_ms,
    key,
    idempotency_key,
    replayed,
    faults,
  } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys of all its rows.
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names its active row.
    <div
      class="row"
      id={`request-${number}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={place[0]}
      aria-setsize={place[1]}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(number)}
    >
      <Time at={at} long />
      <span class={`method ${method}`}>{method}</span>
      <span class="path" title={path}>
        {path}
      </span>
      <span class="code">{code}</span>
      <span class="tags">
        {replayed && <Badge kind="busy">replay</Badge>}
        {faults.length > 0 && <Badge kind="fault">fault</Badge>}
      </span>
      <span class="key" title={idempotency_key === null ? undefined : `Idempotency-Key: ${idempotency_key}`}>
        {key === null ? "no key" : key}
        {idempotency_key !== null && <span class="idem">{idempotency_key}</span>}
      </span>
      <span class="ms">{duration_ms === null ? "" : shownMs(duration_ms)}</span>
      <Badge kind={status === null && isOver ? "s5" : kindOfStatus(status)}>
        {status ?? (isOver ? "lost" : "…")}
      </Badge>
    </div>
  );
}
