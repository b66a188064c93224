import type { EventType, webhookStatuses } from "../../contract/value-sets.ts";

/** Number of consecutive abandoned events after which a webhook is disabled (interface, choices). */
export const abandonedUntilDisabled = 5;

/** A stored webhook, with its secret. */
export interface WebhookRecord {
  /** Position in the order of creation; cursors use it. */
  readonly order: number;
  readonly id: string;
  readonly url: string;
  events: readonly EventType[];
  status: (typeof webhookStatuses)[number];
  description: string | null;
  /** Time of the last accepted event. */
  last_delivery_at: string | null;
  readonly created_at: string;
  signing_secret: string;
  /** Number of secret rotations. */
  rotations: number;
  /** Number of consecutive abandoned events. */
  abandoned: number;
}

/** The webhooks of one organization, in order of creation. */
export class Webhooks {
  readonly #byId = new Map<string, WebhookRecord>();
  #nextOrder = 0;

  add(fields: Omit<WebhookRecord, "order">): WebhookRecord {
    const webhook = { order: this.#nextOrder, ...fields };
    this.restore(webhook);
    return webhook;
  }

  get(id: string): WebhookRecord | undefined {
    return this.#byId.get(id);
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  all(): Iterable<WebhookRecord> {
    return this.#byId.values();
  }

  /** Newest first, starting after the one with order `after` (null: from the newest). */
  newestFirst(after: number | null): WebhookRecord[] {
    return [...this.#byId.values()].reverse().filter(({ order }) => after === null || order < after);
  }

  /** Restores a webhook of a snapshot; must be called in order of creation. */
  restore(webhook: WebhookRecord): void {
    this.#byId.set(webhook.id, webhook);
    this.#nextOrder = webhook.order + 1;
  }
}
