import { webhookRetryTotalMs } from "../../contract/limits.ts";
import type { Webhook } from "../../contract/resources/webhooks.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { RunHold } from "../../state/runs.ts";
import { carriedOut, isRejectedByService, orNull } from "../service-errors.ts";
import {
  type FoundWebhook,
  findLeftover,
  findWebhook,
  type LeftWebhook,
  type Mark,
  markName,
  noAccount,
  prefix,
  type RegistrationHost,
  resume,
  toDescription,
} from "./leftover.ts";

export interface RegisteredWebhook {
  readonly id: string;
  readonly secret: string;
}

/** A state in which a webhook gets no events, or not those of its listener. */
export type WebhookFault = "gone" | "paused" | "disabled" | "narrowed";

const longestEndMs = 10_000;

/**
 * The webhook of one listener, from before its creation to its deletion. A mark is written before it is
 * created, so that no kill leaves a webhook that the next listener cannot find.
 */
export class ListenerWebhook {
  readonly #host: RegistrationHost;
  #name: string;
  /** Other listeners see by the hold that this one is alive. */
  #hold: RunHold;
  /** Deleted at the end of this listener: only its mark, or a webhook, whose ID may be unknown. */
  #remains: "nothing" | "mark" | { readonly id: string | null } = "mark";
  #wanted: readonly EventType[] = [];
  /** Set by a takeover: until when events from before it may be pending, in milliseconds since the epoch. */
  #takenOver: { id: string; url: string; until: number } | null = null;

  constructor(host: RegistrationHost) {
    const { state, pid, runId, clock } = host;
    this.#host = host;
    this.#name = markName(runId);
    const hold = state.runs.hold(noAccount, this.#name, { pid, since: clock.now() });
    if ("heldBy" in hold) throw new Error("a run ID was used twice");
    this.#hold = hold;
  }

  /** Takes over the webhook that was left at the URL, or creates one. Throws the error of the service. */
  async register(url: string, events: readonly EventType[]): Promise<RegisteredWebhook> {
    this.#wanted = events;
    this.#mark(url, { id: null });
    const leftover = await findLeftover(this.#host, url);
    return leftover === null ? this.#create(url, events) : this.#takeOver(url, leftover, events);
  }

  /** Reads it; null if it gets events. Throws the error of the service. */
  async check(patience: AbortSignal): Promise<WebhookFault | null> {
    const id = this.#id;
    if (id === null) return "gone";
    const webhook = await this.#find(id, patience);
    if (webhook?.id !== id) return "gone";
    // An unknown status is one of a later version of the service.
    const { status } = webhook;
    if (status === "paused" || status === "disabled") return status as WebhookFault;
    return isNarrowed(webhook, this.#wanted, this.#host.awaited) ? "narrowed" : null;
  }

  /** Creates another one instead of one that is gone. Throws the error of the service. */
  async registerAgain(url: string, events: readonly EventType[]): Promise<RegisteredWebhook> {
    this.#takenOver = null;
    // An attempt without a response may have created one.
    const unnamed = await this.#find(null, this.#host.signal);
    this.#mark(url, { id: unnamed?.id ?? null });
    if (unnamed === null) return this.#create(url, events);
    this.#remains = { id: null };
    return this.#resume(url, { webhook: unnamed, secret: null }, events);
  }

  /**
   * Deletes it within 10 s, and returns whether it did. Notes a failure: the next listener takes it over
   * then. One that was taken over is kept, with a warning, while events from before the takeover may be
   * pending.
   */
  async end(): Promise<boolean> {
    const { clock, onNote } = this.#host;
    const patience = new AbortController();
    const cancel = clock.at(clock.now() + longestEndMs, () => patience.abort(new Error("timed out")));
    try {
      return !this.#isKept() && (await this.#delete(patience.signal));
    } catch {
      const which = this.#id === null ? "a webhook that may have been created" : `webhook ${this.#id}`;
      onNote(`Could not delete ${which}. The next cat webhooks listen at its URL takes it over.`);
      return false;
    } finally {
      cancel();
      this.#hold.release();
    }
  }

  /** The ID of the webhook; null if there is none, or if it is unknown. */
  get #id(): string | null {
    return typeof this.#remains === "object" ? this.#remains.id : null;
  }

  /** The run in its mark: after a takeover, that of the earlier listener. */
  get #markedRun(): string {
    return this.#name.slice(prefix.length);
  }

  #mark(url: string, webhook: { id: string | null; secret?: string }): void {
    const { state, baseUrl, keyFingerprint } = this.#host;
    state.marks.set(baseUrl, this.#name, JSON.stringify({ ...webhook, keyFingerprint, url } satisfies Mark));
  }

  #find(id: string | null, signal: AbortSignal): Promise<Webhook | null> {
    return findWebhook(this.#host.client, { id, runId: this.#markedRun }, signal);
  }

  async #create(url: string, events: readonly EventType[]): Promise<RegisteredWebhook> {
    const { client, signal } = this.#host;
    this.#remains = { id: null };
    const body = { url, events: [...events], description: toDescription(this.#markedRun) };
    try {
      const { reply, odd } = await carriedOut(client.webhooks.create({ body }, { signal }));
      const { id, signing_secret: secret } = reply;
      this.#mark(url, { id, ...(typeof secret === "string" && { secret }) });
      this.#remains = { id };
      if (odd !== undefined) throw odd;
      return { id, secret };
    } catch (error) {
      if (isRejectedByService(error)) this.#remains = "mark";
      throw error;
    }
  }

  async #takeOver(
    url: string,
    leftover: LeftWebhook,
    events: readonly EventType[],
  ): Promise<RegisteredWebhook> {
    const { state, baseUrl, clock, onNote } = this.#host;
    const { id } = leftover.webhook;
    state.marks.remove(baseUrl, this.#name);
    this.#hold.release();
    this.#name = leftover.name;
    this.#hold = leftover.hold;
    // The webhook has pending events: without its secret it stays for the next listener.
    this.#remains = "nothing";
    // A kill before the response that has a new secret must not leave the old one.
    if (leftover.secret === null) this.#mark(url, { id });
    const webhook = await this.#resume(url, leftover, events);
    // The service has gone on delivering to it while no listener ran.
    this.#takenOver = { id, url, until: clock.now() + webhookRetryTotalMs };
    onNote(
      `Took over webhook ${id}, which an earlier listener had left. The service sends its pending events again within about six hours.`,
    );
    return webhook;
  }

  async #resume(url: string, found: FoundWebhook, events: readonly EventType[]): Promise<RegisteredWebhook> {
    const { id } = found.webhook;
    const secret = await resume(this.#host, found, events);
    this.#mark(url, { id, secret });
    this.#remains = { id };
    return { id, secret };
  }

  /** Whether the webhook stays at the end, which is reported. */
  #isKept(): boolean {
    const { keeps, clock, onNote, onProblem } = this.#host;
    if (keeps && this.#id !== null) {
      onNote(`Webhook ${this.#id} stays, with its secret, for the next listener at its URL.`);
      return true;
    }
    if (this.#takenOver === null || clock.now() >= this.#takenOver.until) return false;
    onProblem(...keptNote(this.#takenOver.id, this.#takenOver.url));
    return true;
  }

  /** Whether there was a webhook, or may have been one. */
  async #delete(signal: AbortSignal): Promise<boolean> {
    const { client, state, baseUrl } = this.#host;
    const isRegistered = typeof this.#remains === "object";
    const id = this.#id ?? (isRegistered ? (await this.#find(null, signal))?.id : undefined);
    if (id !== undefined) await orNull(client.webhooks.delete({ webhook_id: id }, { signal }));
    if (this.#remains !== "nothing") state.marks.remove(baseUrl, this.#name);
    return isRegistered;
  }
}

/** Whether a webhook lacks events of its listener: all that it waits for, else any. */
function isNarrowed(
  { events }: Webhook,
  wanted: readonly EventType[],
  awaited: RegistrationHost["awaited"],
): boolean {
  const lacks = (event: EventType) => !events.includes(event);
  return awaited === null ? wanted.some(lacks) : awaited.every(lacks);
}

const keptNote = (id: string, url: string): [message: string, hint: string] => [
  `webhook ${id} was kept: events from before its takeover may be pending`,
  `The next cat webhooks listen at ${url} takes it over. To abandon its events: cat webhooks delete ${id}`,
];
