import { shownDelivery } from "../deliveries/delivery.ts";
import type { FaultReport } from "../faults/faults.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import type { Control, Fault, RateUse, Status, Webhooks } from "./data.ts";
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
    products: organizations(world).reduce((sum, { products }) => sum + products.size, 0),
    running: countRunning(world),
    pending,
    faults: world.faults.list().length,
  };
}

/** A number that changes with every product. */
export const productRevision = (world: World): number =>
  organizations(world).reduce((sum, { products }) => sum + products.revision, 0);

/** The webhooks and the newest deliveries. */
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

/** Credits, rate limit windows and faults. */
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

/** Characters of a body or of headers that the page gets: a fault may send megabytes, and a frame is sent ten times per second. */
const shownCharacters = 200;
const shownValues = new WeakMap<object, string>();

/** A fault with the beginning of its body and headers. */
export function toFault({ body, headers, ...fault }: FaultReport): Fault {
  return {
    ...fault,
    ...(headers !== undefined && { headers: beginningOf(headers) }),
    ...(body !== undefined && { body: beginningOf(body) }),
  };
}

function beginningOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value).slice(0, shownCharacters);
  const known = shownValues.get(value) ?? JSON.stringify(value).slice(0, shownCharacters);
  shownValues.set(value, known);
  return known;
}
