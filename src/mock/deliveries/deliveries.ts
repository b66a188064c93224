import pLimit, { type LimitFunction } from "p-limit";
import type { Clock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { RecordedDelivery } from "../api/recorded.ts";
import type { DeliveryFault, Faults } from "../faults/faults.ts";
import type { Network } from "../outgoing/network.ts";
import type { OrganizationName } from "../rules/api-keys.ts";
import { found, Rejection } from "../rules/rejection.ts";
import { abandonedUntilDisabled, type Organization } from "../store/organization.ts";
import type { Attempt, DeliveryRecord, WebhookRecord } from "../store/records.ts";
import type { WorkInProgress } from "../work/work-in-progress.ts";
import { isAccepted, sendEvent, shownDelivery, type WebhookRules } from "./delivery.ts";

/** Number of ended deliveries that are kept; pending ones are all kept. */
const remembered = 1_000;
const rememberedAttempts = 50;

interface Surroundings {
  readonly clock: Clock;
  readonly network: Network;
  readonly workInProgress: WorkInProgress;
  /** Lifetime of the current state. Work that began in an earlier lifetime must stop. */
  readonly life: AbortSignal;
  readonly options: WebhookRules;
  readonly faults: Faults;
  readonly organizations: Record<OrganizationName, Organization>;
  timestamp(): string;
  printed(value: unknown): string;
  schedule(time: number, run: () => void): void;
  /** An ID derived from `name` and the ID of the resource. */
  idFor(name: string, about: string): string;
}

/** Pending deliveries of events to webhooks, and the latest ended ones. */
export class Deliveries {
  /** Oldest first. */
  readonly #deliveries = new Map<string, DeliveryRecord>();
  /** The IDs of ended deliveries, in the order in which they ended. */
  #ended: string[] = [];
  readonly #limits = new Map<string, LimitFunction>();
  /** Deliveries that a fault sends after later ones of their webhooks. */
  readonly #held = new Map<DeliveryRecord, HeldDelivery>();

  constructor(private readonly world: Surroundings) {}

  /** Sends one event to every active webhook of the organization that subscribes to its type (Events). */
  announce(
    organization: Organization,
    type: EventType,
    { id, status }: { id: string; status: string },
  ): void {
    let event: DeliveryRecord["event"] | undefined;
    for (const webhook of organization.webhooks.all()) {
      if (webhook.status !== "active" || !webhook.events.includes(type)) continue;
      event ??= {
        id: `evt_${this.world.idFor(`event ${type}`, id)}`,
        type,
        created_at: this.world.timestamp(),
        // Only the ID and the status of the resource (Events, Delivery).
        data: { [type.slice(0, type.indexOf("."))]: { id, status } },
      };
      const delivery: DeliveryRecord = {
        id: this.world.idFor(`delivery ${type} ${webhook.id}`, id),
        organization: organization.name,
        webhook_id: webhook.id,
        url: webhook.url,
        event,
        state: "pending",
        tries: 0,
        due: this.world.clock.now(),
        attempts: [],
      };
      this.#deliveries.set(delivery.id, delivery);
      this.#plan(delivery);
    }
  }

  /** Sends a delivery again now, whatever its state and webhook. Its schedule does not change. */
  async resend(id: string): Promise<RecordedDelivery> {
    const delivery = found(this.#deliveries.get(id), "delivery");
    const webhook = this.#webhookFor(delivery);
    if (webhook === undefined) throw orphaned();
    const isThere = () => this.#webhookFor(delivery) === webhook;
    const { life, workInProgress } = this.world;
    const sent = this.#attempt(delivery, webhook, isThere);
    const attempt = await workInProgress.track(sent, workInProgress.mark());
    if (attempt === null && !life.aborted) throw orphaned();
    if (attempt !== null && isAccepted(attempt)) this.#delivered(delivery, webhook, attempt);
    return shownDelivery(delivery);
  }

  /** All deliveries, oldest first. */
  list(): RecordedDelivery[] {
    return [...this.#deliveries.values()].map(shownDelivery);
  }

  /** Abandons the pending deliveries of a webhook that was deleted or disabled. */
  drop(webhookId: string): void {
    for (const delivery of this.#deliveries.values()) {
      if (delivery.webhook_id === webhookId) this.#end(delivery, "abandoned");
    }
  }

  all(): Iterable<DeliveryRecord> {
    return this.#deliveries.values();
  }

  /** Resumes deliveries, oldest first. An attempt that was in flight is made again: at least once. */
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
    this.#limits.clear();
    this.#held.clear();
  }

  /**
   * Schedules the next attempt. An overdue one is made at once: a frozen clock would never reach it.
   * `fault` acts on it, if a fault has put it off.
   */
  #plan(delivery: DeliveryRecord, fault?: DeliveryFault): void {
    const { due } = delivery;
    if (due === null) return;
    const go = () => {
      if (delivery.due !== due) return;
      const { workInProgress } = this.world;
      workInProgress.track(this.#scheduled(delivery, due, fault), workInProgress.mark());
    };
    if (due <= this.world.clock.now()) go();
    else this.world.schedule(due, go);
  }

  async #scheduled(delivery: DeliveryRecord, due: number, putOff?: DeliveryFault): Promise<void> {
    const { life, clock } = this.world;
    const webhook = this.#webhookFor(delivery);
    if (webhook === undefined || webhook.status === "disabled") return this.#end(delivery, "abandoned");
    const isWanted = () =>
      delivery.due === due && this.#webhookFor(delivery) === webhook && webhook.status === "active";
    const begun = clock.now();
    this.#held.delete(delivery);
    const fault = putOff ?? (isWanted() ? this.#faultOn(delivery) : null);
    if (putOff === undefined && this.#putsOff(delivery, fault)) return;
    // Skip an attempt at once, while the clock still shows the time at which it was due.
    const attempt = isWanted() ? await this.#attempts(delivery, webhook, isWanted, fault) : null;
    if (life.aborted) return;
    this.#releaseAfter(delivery, attempt);
    if (attempt !== null && isAccepted(attempt)) return this.#delivered(delivery, webhook, attempt);
    // The delivery ended meanwhile: it was resent successfully, or dropped with its webhook.
    if (delivery.due !== due) return;
    const wait = limits.webhookRetryMs[delivery.tries++];
    if (wait !== undefined) {
      // Count from the attempt, not from the due time, so that an overdue schedule catches up with only one
      // attempt. On time both are the same, because a move of the clock stops at each due time.
      delivery.due = (attempt === null ? begun : Date.parse(attempt.at)) + wait;
      return this.#plan(delivery);
    }
    // An attempt skipped for a paused webhook is not a failure of the handler.
    if (attempt === null) this.#end(delivery, "abandoned");
    else this.#abandoned(delivery, webhook);
  }

  #faultOn({ event: { type }, webhook_id: webhookId }: DeliveryRecord): DeliveryFault | null {
    const { faults } = this.world;
    return faults.none ? null : faults.ofDelivery({ type, webhookId });
  }

  /** Whether a fault sends an attempt later: after some time, or after other deliveries. */
  #putsOff(delivery: DeliveryRecord, fault: DeliveryFault | null): boolean {
    if (fault === null) return false;
    const { delay_ms, reorder } = fault;
    if (delay_ms === 0 && reorder === undefined) return false;
    delivery.due = this.world.clock.now() + delay_ms + (reorder === undefined ? 0 : longestHoldMs);
    if (reorder !== undefined) this.#held.set(delivery, { due: delivery.due, fault, after: reorder });
    this.#plan(delivery, fault);
    return true;
  }

  /** Sends the held deliveries of the webhook that waited for this attempt. */
  #releaseAfter({ webhook_id }: DeliveryRecord, attempt: Attempt | null): void {
    if (attempt === null) return;
    for (const [delivery, held] of this.#held) {
      const isOver = delivery.due !== held.due;
      if (!isOver && (delivery.webhook_id !== webhook_id || --held.after > 0)) continue;
      this.#held.delete(delivery);
      if (isOver) continue;
      delivery.due = this.world.clock.now();
      this.#plan(delivery, held.fault);
    }
  }

  /** Makes an attempt, and the copies of a fault at the same time; the one that counts is an accepted one. */
  async #attempts(
    delivery: DeliveryRecord,
    webhook: WebhookRecord,
    isWanted: () => boolean,
    fault: DeliveryFault | null,
  ): Promise<Attempt | null> {
    const copies = Array.from({ length: 1 + (fault?.duplicate ?? 0) }, () =>
      this.#attempt(delivery, webhook, isWanted, fault),
    );
    const made = await Promise.all(copies);
    return made.find((attempt) => attempt !== null && isAccepted(attempt)) ?? made[0]!;
  }

  /** Makes and records an attempt; null if the mock was reset or stopped, or it was no longer wanted. */
  #attempt(
    delivery: DeliveryRecord,
    webhook: WebhookRecord,
    isWanted: () => boolean,
    fault: DeliveryFault | null = null,
  ): Promise<Attempt | null> {
    const { life, network, clock, options } = this.world;
    const limit = this.#limits.get(webhook.id) ?? pLimit(atOnce);
    this.#limits.set(webhook.id, limit);
    // An attempt without a wait starts at the moment when it is due, although the limiter runs it later.
    const due = limit.activeCount < atOnce ? clock.now() : null;
    return limit(async () => {
      if (life.aborted) return null;
      const attempt = await sendEvent(network, life, {
        url: delivery.url,
        body: Buffer.from(this.world.printed(delivery.event)),
        secret: () => webhook.signing_secret,
        now: due ?? clock.now(),
        rules: options,
        isWanted,
        fault,
      });
      if (attempt === null || life.aborted) return null;
      delivery.attempts.push(attempt);
      if (delivery.attempts.length > rememberedAttempts) delivery.attempts.shift();
      return attempt;
    });
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

  #webhookFor({ organization, webhook_id }: DeliveryRecord): WebhookRecord | undefined {
    return this.world.organizations[organization].webhooks.get(webhook_id);
  }
}

/** A delivery that waits for `after` more of its webhook, or until it is due. */
interface HeldDelivery {
  readonly due: number;
  readonly fault: DeliveryFault;
  after: number;
}

/** Longest wait for other deliveries: without it, the last event would never arrive. */
const longestHoldMs = 60_000;

const orphaned = () => new Rejection("webhook_not_found", "the webhook of this delivery was deleted");

/** Limit of simultaneous deliveries per webhook. */
const atOnce = 16;
