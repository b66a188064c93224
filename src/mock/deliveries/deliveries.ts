import type { Clock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { Network } from "../outgoing/network.ts";
import type { OrganizationName } from "../rules/authenticate.ts";
import { Refusal } from "../rules/refusal.ts";
import type { Organization } from "../store/organization.ts";
import { abandonedUntilDisabled, type WebhookRecord } from "../store/webhooks.ts";
import type { Life } from "../work/life.ts";
import type { Underway } from "../work/underway.ts";
import {
  type Attempt,
  type DeliveryRecord,
  type MadeEvent,
  type RecordedDelivery,
  shownDelivery,
} from "./delivery-record.ts";
import { Doors } from "./doors.ts";
import { isAccepted, sendEvent } from "./send-event.ts";

/** How many deliveries that have ended are remembered; those still to be made all are. */
const remembered = 1_000;
const rememberedAttempts = 50;

/** What the deliveries need of the world that they are in. */
export interface Surroundings {
  readonly clock: Clock;
  readonly network: Network;
  readonly underway: Underway;
  /** Of now: what began under an earlier one is not to go on. */
  readonly life: Life;
  readonly options: { readonly strict: boolean };
  readonly organizations: Record<OrganizationName, Organization>;
  timestamp(): string;
  schedule(time: number, run: () => void): void;
  /** An id that follows from `name` and the id of what it is about. */
  idFor(name: string, about: string): string;
}

/** Every event on its way to a webhook, and those that have lately ended. */
export class Deliveries {
  readonly #world: Surroundings;
  /** Oldest first. */
  readonly #deliveries = new Map<string, DeliveryRecord>();
  /** The ids of those that have ended, in the order in which they did. */
  #ended: string[] = [];
  readonly #doors: Doors;

  constructor(world: Surroundings) {
    this.#world = world;
    this.#doors = new Doors(world.underway);
  }

  /** Sends one event to every active webhook of the organization that listens to its type (Events). */
  announce(
    organization: Organization,
    type: EventType,
    { id, status }: { id: string; status: string },
  ): void {
    let event: MadeEvent | undefined;
    for (const webhook of organization.webhooks.all()) {
      if (webhook.status !== "active" || !webhook.events.includes(type)) continue;
      event ??= {
        id: `evt_${this.#world.idFor(`event ${type}`, id)}`,
        type,
        created_at: this.#world.timestamp(),
        // The resource's id and status and nothing more (Events, Delivery).
        data: { [type.slice(0, type.indexOf("."))]: { id, status } },
      };
      const delivery: DeliveryRecord = {
        id: this.#world.idFor(`delivery ${type} ${webhook.id}`, id),
        organization: organization.name,
        webhook_id: webhook.id,
        url: webhook.url,
        event,
        state: "pending",
        tries: 0,
        due: this.#world.clock.now(),
        attempts: [],
      };
      this.#deliveries.set(delivery.id, delivery);
      this.#plan(delivery);
    }
  }

  /** Sends one again now, whatever became of it and whatever its webhook's status is; the schedule stays as it is. */
  async resend(id: string): Promise<RecordedDelivery> {
    const delivery = this.#deliveries.get(id);
    if (delivery === undefined) throw new Refusal("delivery_not_found", "there is no such delivery");
    const webhook = this.#webhookOf(delivery);
    if (webhook === undefined) throw orphaned();
    const isThere = () => this.#webhookOf(delivery) === webhook;
    const { life, underway } = this.#world;
    const mark = this.#doors.markFor(webhook.id);
    const attempt = await underway.track(this.#attempt(delivery, webhook, isThere), mark);
    if (attempt === null && !life.ended) throw orphaned();
    if (attempt !== null && isAccepted(attempt)) this.#delivered(delivery, webhook, attempt);
    return shownDelivery(delivery);
  }

  /** Oldest first. */
  list(): RecordedDelivery[] {
    return [...this.#deliveries.values()].map(shownDelivery);
  }

  /** Gives up what is still to go to a webhook that is gone or takes no more. */
  drop(webhookId: string): void {
    for (const delivery of this.#deliveries.values()) {
      if (delivery.webhook_id === webhookId) this.#end(delivery, "abandoned");
    }
  }

  /** As they are kept, for a snapshot. */
  all(): Iterable<DeliveryRecord> {
    return this.#deliveries.values();
  }

  /** Goes on with those of a snapshot, which come oldest first. An attempt that was under way is made again: at least once. */
  restore(deliveries: readonly DeliveryRecord[]): void {
    this.clear();
    for (const delivery of deliveries) {
      this.#deliveries.set(delivery.id, delivery);
      if (delivery.state !== "pending") this.#ended.push(delivery.id);
    }
    for (const delivery of deliveries) this.#plan(delivery);
  }

  clear(): void {
    this.#deliveries.clear();
    this.#ended = [];
    this.#doors.clear();
  }

  /** Makes the attempt that is due, when it is due; at once when that has passed, which a clock that stands still would not. */
  #plan(delivery: DeliveryRecord): void {
    const { due } = delivery;
    if (due === null) return;
    const go = () => {
      if (delivery.due !== due) return;
      const mark = this.#doors.markFor(delivery.webhook_id);
      this.#world.underway.track(this.#scheduled(delivery, due), mark);
    };
    if (due <= this.#world.clock.now()) go();
    else this.#world.schedule(due, go);
  }

  /** One attempt of the schedule. */
  async #scheduled(delivery: DeliveryRecord, due: number): Promise<void> {
    const { life, clock } = this.#world;
    const webhook = this.#webhookOf(delivery);
    if (webhook === undefined || webhook.status === "disabled") return this.#end(delivery, "abandoned");
    const isWanted = () =>
      delivery.due === due && this.#webhookOf(delivery) === webhook && webhook.status === "active";
    const begun = clock.now();
    // What is left out is so at once, while the clock stands where it was due.
    const attempt = isWanted() ? await this.#attempt(delivery, webhook, isWanted) : null;
    if (life.ended) return;
    if (attempt !== null && isAccepted(attempt)) return this.#delivered(delivery, webhook, attempt);
    // Ended meanwhile: sent again by hand, or dropped with its webhook.
    if (delivery.due !== due) return;
    const wait = limits.webhookRetryMs[delivery.tries++];
    if (wait !== undefined) {
      // From when it was made, not from when it was due: of a schedule that is long overdue no more than one attempt is made up
      // for. On time both are the same, as a move of the clock stops at each.
      delivery.due = (attempt === null ? begun : Date.parse(attempt.at)) + wait;
      return this.#plan(delivery);
    }
    // Left out as the webhook was paused: not the handler's failure.
    if (attempt === null) this.#end(delivery, "abandoned");
    else this.#abandoned(delivery, webhook);
  }

  /** Makes one attempt and writes it down; null when the world ended before it did, or it was wanted no more when it was to go. */
  async #attempt(
    delivery: DeliveryRecord,
    webhook: WebhookRecord,
    isWanted: () => boolean,
  ): Promise<Attempt | null> {
    const { life, network, clock, options } = this.#world;
    const turnstile = this.#doors.turnstileOf(webhook.id);
    // Not awaited unless it must be, as the time of an attempt is that of the moment at which it is due.
    const turn = turnstile.enter();
    if (turn !== null) await turn;
    try {
      if (life.ended) return null;
      const attempt = await sendEvent(network, life, {
        url: delivery.url,
        body: Buffer.from(JSON.stringify(delivery.event)),
        secret: () => webhook.signing_secret,
        now: clock.now(),
        isStrict: options.strict,
        isWanted,
      });
      if (attempt === null || life.ended) return null;
      delivery.attempts.push(attempt);
      if (delivery.attempts.length > rememberedAttempts) delivery.attempts.shift();
      return attempt;
    } finally {
      turnstile.leave();
    }
  }

  #delivered(delivery: DeliveryRecord, webhook: WebhookRecord, { at }: Attempt): void {
    webhook.last_delivery_at = at;
    webhook.abandoned = 0;
    this.#end(delivery, "delivered");
    delivery.state = "delivered";
  }

  #abandoned(delivery: DeliveryRecord, webhook: WebhookRecord): void {
    this.#end(delivery, "abandoned");
    webhook.abandoned++;
    if (webhook.abandoned < abandonedUntilDisabled || webhook.status === "disabled") return;
    webhook.status = "disabled";
    this.drop(webhook.id);
  }

  #end(delivery: DeliveryRecord, state: "delivered" | "abandoned"): void {
    if (delivery.state !== "pending") return;
    delivery.state = state;
    delivery.due = null;
    this.#ended.push(delivery.id);
    if (this.#ended.length > remembered) this.#deliveries.delete(this.#ended.shift()!);
  }

  #webhookOf({ organization, webhook_id }: DeliveryRecord): WebhookRecord | undefined {
    return this.#world.organizations[organization].webhooks.get(webhook_id);
  }
}

const orphaned = () => new Refusal("webhook_not_found", "its webhook was deleted, and its secret with it");
