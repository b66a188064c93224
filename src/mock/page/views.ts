import type {
  Control,
  Fault,
  RateUse,
  RequestDetail,
  RequestRow,
  Status,
  Webhooks,
} from "../../mock-page/data.ts";
import type { RecordedRequest } from "../api/recorded.ts";
import { shownDelivery } from "../deliveries/delivery.ts";
import type { FaultReport } from "../faults/faults.ts";
import type { Organization } from "../store/organization.ts";
import { type LoggedRequest, shownRequest } from "../world/requests.ts";
import type { World } from "../world/world.ts";
import { countRunning } from "./job-cards.ts";

/** Deliveries and webhooks that the page shows. */
const shownDeliveries = 100;
const shownWebhooks = 100;
const shownFaults = 100;

const organizations = (world: World): Organization[] => Object.values(world.organizations);

/** The header of the page. The clock is cut to seconds, so that it makes one frame per second. */
export function toStatus(world: World): Status {
  const now = world.clock.now();
  let pending = 0;
  for (const { state } of world.deliveries.all()) if (state === "pending") pending++;
  return {
    now: new Date(now - (now % 1_000)).toISOString(),
    requests: world.log.count,
    has_failed: hasFailed(world),
    products: organizations(world).reduce((sum, { products }) => sum + products.size, 0),
    running: countRunning(world),
    pending,
    faults: world.faults.list().length,
    has_secret_keys: world.keys.areSecret,
  };
}

function hasFailed({ log }: World): boolean {
  for (const [, { status, kept }] of log.from(1, log.count))
    if (status === null ? kept?.isOver === true : status >= 400) return true;
  return false;
}

export const productRevision = (world: World): number =>
  organizations(world).reduce((sum, { products }) => sum + products.revision, 0);

export function toWebhooks(world: World): Webhooks {
  return {
    webhooks: organizations(world)
      .flatMap(({ name, webhooks }) =>
        [...webhooks.all()].map((webhook) => ({ ...webhook, organization: name })),
      )
      .slice(-shownWebhooks)
      .reverse()
      .map(({ id, organization, url, events, status, description, last_delivery_at }) => {
        return { id, organization, url, events, status, description, last_delivery_at };
      }),
    deliveries: [...world.deliveries.all()].slice(-shownDeliveries).reverse().map(shownDelivery),
  };
}

export function toControl(world: World): Control {
  const { rateLimit, speed } = world.options;
  const now = world.clock.now();
  return {
    speed,
    accounts: organizations(world).map(({ name, credits, rate }) => {
      const use = (isRead: boolean): RateUse => ({
        used: isRead ? rate.reads : rate.writes,
        limit: rateLimit === false ? null : isRead ? rateLimit.reads : rateLimit.writes,
      });
      // Reading begins a new window, if the last one is over.
      const { reset } = rate.read(rateLimit, true, now);
      return { organization: name, credits, reads: use(true), writes: use(false), reset };
    }),
    faults: world.faults.list().slice(-shownFaults).map(toFault),
  };
}

/** Characters of a body or headers that the page gets: a fault may send megabytes, ten times per second. */
const shownCharacters = 200;
const shownValues = new WeakMap<object, string>();

/** A fault with the beginnings of its bodies, headers and entries. */
function toFault({ match, body, headers, sequence, ...fault }: FaultReport): Fault {
  const long = Object.entries({ headers, body, sequence }).filter(([, value]) => value !== undefined);
  const fields = Object.entries(match).map(([name, value]) => [name, toBeginning(value)]);
  return {
    ...fault,
    match: Object.fromEntries(fields),
    ...Object.fromEntries(long.map(([name, value]) => [name, toBeginning(value)])),
  };
}

function toBeginning(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value).slice(0, shownCharacters);
  const known = shownValues.get(value) ?? JSON.stringify(value).slice(0, shownCharacters);
  shownValues.set(value, known);
  return known;
}

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
    code: errorCode(shown),
  };
}

/** The keys of the mock are public; any other may be a real one that was sent here by mistake. */
function shownKey({ headers }: LoggedRequest, shown: RecordedRequest): string | null {
  if (shown.headers.authorization === undefined) return null;
  return publicKey.exec(headers.find((value) => publicKey.test(value)) ?? "")?.[1] ?? "***";
}

const publicKey = /^bearer +(ak_mock\w{0,50}) *$/i;

/** The code in the error envelope, or of the first problem in a list. */
function errorCode({ status, response }: RecordedRequest): string | null {
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
    // A search is cheaper than parsing the headers of a thousand requests.
    if (logged.replayed || !logged.headers.includes(row.idempotency_key)) continue;
    const earlierRow = toRow(earlier, logged);
    if (earlierRow.idempotency_key === row.idempotency_key && earlierRow.key === row.key) return earlierRow;
  }
  return null;
}
