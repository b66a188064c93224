import { createHmac } from "node:crypto";
import type { Webhook } from "../../contract/resources/webhooks.ts";
import { describeBreach, type UrlBreach } from "../../contract/url-policy.ts";
import type { EventType } from "../../contract/value-sets.ts";
import { webhookUrlBreach } from "../deliveries/delivery.ts";
import { isFromForeignPage } from "../requests/pages.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, invalid } from "../rules/rejection.ts";
import type { WebhookRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

export const webhooks = {
  create({ world, organization, body, headers }) {
    const { url, events, description = null } = body.value;
    // "Verified once at creation": by the URL policy only, because the specification describes no test
    // request.
    // A page could make the mock post to what only this machine reaches.
    const isForeign = isFromForeignPage(world, headers);
    const rules = isForeign ? { ...world.options, strict: true } : world.options;
    const breach = webhookUrlBreach(url, rules);
    if (breach !== null) {
      const note = isForeign ? " in a request from a page of another origin" : wayOut(breach, rules);
      throw invalid(`url ${describeBreach(breach)}${note}`, "url");
    }
    const id = world.ids.next();
    const webhook = organization.webhooks.add({
      id,
      url,
      events: distinct(events),
      status: "active",
      description,
      last_delivery_at: null,
      created_at: world.timestamp(),
      signing_secret: toSecret(world, id, 0),
      rotations: 0,
      abandoned: 0,
    });
    return { body: { ...shown(webhook), signing_secret: webhook.signing_secret } };
  },

  // The specification does not state the order of this list; the other lists have the newest first.
  list({ world, organization, query }) {
    const list = `${organization.name} webhooks.list`;
    const entries = (after: number | null) => organization.webhooks.newestFirst(after);
    return { body: world.cursors.page(list, query, entries, ({ order }) => order, shown) };
  },

  get({ organization, params }) {
    return { body: shown(found(organization.webhooks.get(params.webhook_id), "webhook")) };
  },

  update({ world, organization, params, body }) {
    const webhook = found(organization.webhooks.get(params.webhook_id), "webhook");
    const { events, status, description, rotate_secret = false } = body.value;
    if (events !== undefined) webhook.events = distinct(events);
    if (description !== undefined) webhook.description = description;
    if (status !== undefined) {
      // Re-enabling a webhook resets its count of abandoned events.
      if (webhook.status === "disabled") webhook.abandoned = 0;
      webhook.status = status;
    }
    if (!rotate_secret) return { body: shown(webhook) };
    webhook.rotations++;
    webhook.signing_secret = toSecret(world, webhook.id, webhook.rotations);
    return { body: { ...shown(webhook), signing_secret: webhook.signing_secret } };
  },

  delete({ world, organization, params }) {
    const webhook = found(organization.webhooks.get(params.webhook_id), "webhook");
    organization.webhooks.delete(webhook.id);
    world.deliveries.drop(webhook.id);
    return { body: null };
  },
} satisfies Handlers["webhooks"];

/** The webhook as the service shows it, without the secret. */
function shown({
  id,
  url,
  events,
  status,
  description,
  last_delivery_at,
  created_at,
}: WebhookRecord): Webhook {
  return { id, url, events: [...events], status, description, last_delivery_at, created_at };
}

/** The flag with which the mock accepts a URL that the service would reject. */
const wayOut = (breach: UrlBreach, { strict }: { strict: boolean }): string =>
  strict || breach === "not_a_url" || breach === "credentials"
    ? ""
    : "; a host of your own network needs --allow-host";

const distinct = (events: readonly EventType[]): EventType[] => [...new Set(events)];

/** Derived from the secret of the mock, so that a seed repeats it. Each rotation gives another one. */
const toSecret = (world: World, id: string, rotation: number): string =>
  `whsec_${createHmac("sha256", world.secret).update(`webhook ${id} ${rotation}`).digest("hex")}`;
