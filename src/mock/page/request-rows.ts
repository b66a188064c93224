import { type LoggedRequest, type RecordedRequest, shownRequest } from "../world/requests.ts";
import type { World } from "../world/world.ts";
import type { RequestDetail, RequestRow } from "./data.ts";
import { toFault } from "./views.ts";

const longestPath = 500;

/** A logged request as the list of the page shows it. */
export function toRow(number: number, logged: LoggedRequest): RequestRow {
  const shown = shownRequest(logged);
  const { at, method, status, idempotency_key, replayed, faults } = shown;
  return {
    number,
    at,
    method,
    path: shown.path.slice(0, longestPath),
    status,
    isOver: status !== null || logged.kept?.isOver === true,
    duration_ms: shown.response?.duration_ms ?? null,
    key: shownKey(logged, shown),
    idempotency_key,
    replayed,
    faults,
    code: codeOf(shown),
  };
}

/** The keys of the mock are public; any other may be a real one that was sent here by mistake. */
function shownKey({ headers }: LoggedRequest, shown: RecordedRequest): string | null {
  if (shown.headers.authorization === undefined) return null;
  return /\nbearer +(ak_mock\w{0,50}) *(?:\n|$)/i.exec(headers)?.[1] ?? "***";
}

/** The code in the error envelope, or of the first problem in a list. */
function codeOf({ status, response }: RecordedRequest): string | null {
  if (status === null || status < 400 || response?.body?.encoding !== "utf8") return null;
  return /"code":"(\w{1,100})"/.exec(response.body.content)?.[1] ?? null;
}

/** A request with everything that is known about it; null if the log no longer has it. */
export function toDetail(world: World, number: number): RequestDetail | null {
  const { log } = world;
  const logged = log.numbered(number);
  if (logged === undefined) return null;
  const { path, request_id, headers, body, response } = shownRequest(logged);
  const row = toRow(number, logged);
  const known = new Map(world.faults.list().map((fault) => [fault.id, toFault(fault)]));
  return {
    row,
    request: {
      path,
      request_id,
      headers,
      ...(body !== undefined && { body }),
      ...(response !== undefined && { response }),
    },
    first: firstWithKey(world, number, row),
    faults: row.faults.map((id) => ({ ...known.get(id), id })),
  };
}

/** The request that a response was stored for: the first with the idempotency key, of the same client. */
function firstWithKey({ log }: World, number: number, row: RequestRow): RequestRow | null {
  if (row.idempotency_key === null) return null;
  for (const [earlier, logged] of log.from(1, log.count)) {
    if (earlier === number) return null;
    // A look at the text is cheaper than parsing a thousand requests.
    if (logged.replayed || !logged.headers.includes(row.idempotency_key)) continue;
    const found = toRow(earlier, logged);
    if (found.idempotency_key === row.idempotency_key && found.key === row.key) return found;
  }
  return null;
}
