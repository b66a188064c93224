import type { EventType, webhookStatuses } from "../../contract/value-sets.ts";

/** After so many events in a row that were abandoned a webhook is disabled (interface, choices). */
export const abandonedUntilDisabled = 5;

/** A webhook as it is kept, with its secret. */
export interface WebhookRecord {
  /** Where it stands in the order of creation: what the cursors of the list go by. */
  readonly order: number;
  readonly id: string;
  readonly url: string;
  events: readonly EventType[];
  status: (typeof webhookStatuses)[number];
  description: string | null;
  /** When an event was last accepted. */
  last_delivery_at: string | null;
  readonly created_at: string;
  signing_secret: string;
  /** How often its secret was changed. */
  rotations: number;
  /** How many events in a row were abandoned. */
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

  /** Newest first, from after the one of order `after` on (null: from the newest). */
  newestFirst(after: number | null): WebhookRecord[] {
    return [...this.#byId.values()].reverse().filter(({ order }) => after === null || order < after);
  }

  /** Puts back one of a snapshot; they come in the order of creation. */
  restore(webhook: WebhookRecord): void {
    this.#byId.set(webhook.id, webhook);
    this.#nextOrder = webhook.order + 1;
  }
}
