import type { WebhookRecord } from "./records.ts";

/** Number of consecutive abandoned events after which a webhook is disabled. */
export const abandonedUntilDisabled = 5;

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
