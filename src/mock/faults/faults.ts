import { Random } from "../seed/seed.ts";
import { kindOf } from "./fault-check.ts";
import type { FaultEffect, FaultKind, FaultOrder, JobFailure, JobKind } from "./fault-order.ts";
import type { FaultReply } from "./fault-response.ts";
import type { SeenRequest } from "./matching.ts";

/** A fault as GET /_mock/faults shows it: its number, its definition, and how often it has acted. */
export type FaultReport = FaultOrder & { readonly id: number; readonly acted: number };

/** A fault that acted less often than it was set to, as GET /_mock/verify shows it. */
export interface UnmetFault {
  readonly id: number;
  readonly acted: number;
  readonly expected: number;
  readonly message: string;
}

export interface RequestFault {
  readonly ids: number[];
  /** Delay before the work, in milliseconds. */
  delayMs: number;
  reply: FaultReply | null;
  /**
   * When the connection is cut: before the work, after it, after it without a record of the idempotency key,
   * or after this many bytes of the response body.
   */
  cut: "before" | "after" | "crash" | number | null;
}

/** The effect on one attempt to deliver an event. */
export interface DeliveryFault extends Omit<FaultEffect, "status" | "headers" | "body" | "fail"> {
  readonly delay_ms: number;
}

interface ActiveFault {
  readonly id: number;
  readonly order: FaultOrder;
  readonly kind: FaultKind;
  readonly random: Random;
  /** Number of matches, also of those that it spared. */
  matched: number;
  acted: number;
}

/** The faults set by a test. They do not belong to the service, so snapshots do not include them. */
export class Faults {
  /** In the order in which they were set. */
  #faults: ActiveFault[] = [];
  #given = 0;

  /** Whether no fault is set. The only cost for a request when no fault is set. */
  get none(): boolean {
    return this.#faults.length === 0;
  }

  /** Sets a fault. Its random numbers follow from `secret` and its number: a seed repeats them; IDs stay. */
  add(order: FaultOrder, secret: string): FaultReport {
    const id = ++this.#given;
    const random = Random.from(`fault ${id} ${secret}`);
    const fault = { id, order, kind: kindOf(order.match), random, matched: 0, acted: 0 };
    this.#faults.push(fault);
    return toReport(fault);
  }

  list(): FaultReport[] {
    return this.#faults.map(toReport);
  }

  /** The faults that acted less often than they were set to. */
  unmet(): UnmetFault[] {
    return this.#faults.flatMap(toUnmet);
  }

  /** Removes one fault; false if none has this number. */
  remove(id: number): boolean {
    const at = this.#faults.findIndex((fault) => fault.id === id);
    if (at >= 0) this.#faults.splice(at, 1);
    return at >= 0;
  }

  clear(): number {
    const count = this.#faults.length;
    this.#faults = [];
    return count;
  }

  /** Removes all faults and restarts their numbering. */
  reset(): void {
    this.clear();
    this.#given = 0;
  }

  /**
   * The effect on a request; null for none. Matching faults act in order: delays add up, and the first fault
   * of any other kind ends the request. A replay does no work, so delays and statuses do not apply to it; its
   * connection can still be cut.
   */
  ofRequest(request: SeenRequest, isReplay: boolean): RequestFault | null {
    const { ids, delay_ms, effect } = this.#actsOn("request", (match) => request.fits(match), isReplay);
    if (ids.length === 0) return null;
    const { status, headers, body, drop, truncate } = effect;
    const reply = status === undefined ? null : { status, headers, body };
    return { ids, delayMs: delay_ms, reply, cut: drop ?? truncate ?? null };
  }

  /** The effect on an attempt to deliver an event of this type; null for none. */
  ofDelivery({ type, webhookId }: { type: string; webhookId: string }): DeliveryFault | null {
    const { ids, delay_ms, effect } = this.#actsOn(
      "delivery",
      ({ event, webhook_id = webhookId }) => (event === "any" || event === type) && webhook_id === webhookId,
    );
    return ids.length === 0 ? null : { ...effect, delay_ms };
  }

  /** The failure of a job that is about to run; null if no fault matches. */
  ofJob(job: JobKind): JobFailure | null {
    return this.#actsOn("job", (match) => match.job === job).effect.fail ?? null;
  }

  /** The effect of all faults together: their delays, and the first other effect. */
  #actsOn(kind: FaultKind, fits: (match: FaultOrder["match"]) => boolean, isReplay = false) {
    const ids: number[] = [];
    let delay_ms = 0;
    let effect: FaultEffect | null = null;
    for (const fault of this.#faults) {
      if (fault.kind !== kind || !fits(fault.order.match)) continue;
      const next = nextEffect(fault);
      if (next === undefined) continue;
      const isDelay = next.delay_ms !== undefined;
      if (isReplay && (isDelay || next.status !== undefined)) continue;
      if ((effect !== null && !isDelay) || !acts(fault)) continue;
      // An empty entry of a sequence.
      if (Object.keys(next).length === 0) continue;
      ids.push(fault.id);
      if (isDelay) delay_ms += next.delay_ms!;
      else effect = next;
    }
    return { ids, delay_ms, effect: effect ?? {} };
  }
}

/** The effect that a fault has when it acts next; undefined if it is used up. */
function nextEffect({ order, acted }: ActiveFault): FaultEffect | undefined {
  if (order.sequence !== undefined) return order.sequence[acted];
  return order.times !== undefined && acted >= order.times ? undefined : order;
}

/** Counts a match; false if it is spared, by number or at random. */
function acts(fault: ActiveFault): boolean {
  const { skip = 0, probability = 1 } = fault.order;
  if (fault.matched++ < skip || (probability < 1 && fault.random.next() >= probability)) return false;
  fault.acted++;
  return true;
}

const toReport = ({ id, order, acted }: ActiveFault): FaultReport => ({ id, ...order, acted });

/** Characters of what a fault matches in a message. */
const shownCharacters = 200;

function toUnmet({ id, order, matched, acted }: ActiveFault): UnmetFault[] {
  const { match, times, sequence, probability = 1 } = order;
  const expected = sequence?.length ?? times ?? 1;
  // A random choice that never fell on a match is no mistake of a test.
  const isMet = probability < 1 ? matched > 0 : acted >= expected;
  if (isMet) return [];
  const shown = JSON.stringify(match);
  const text = shown.length > shownCharacters ? `${shown.slice(0, shownCharacters)}…` : shown;
  const often = acted === 0 ? "never acted" : `acted ${acted} of ${expected} times`;
  return [{ id, acted, expected, message: `fault ${id}, ${text}: ${often}` }];
}

/** `fail-CODE` in a name (docs/mock-server.md, Faults); a code is lower-case words joined by underscores. */
const requested = /fail-([a-z]+(?:_[a-z]+)*)/;

/** The code of a `fail-CODE` anywhere in a text, or null. */
export const requestedFailureIn = (text: string): string | null => requested.exec(text)?.[1] ?? null;

/** The code of a `fail-CODE` at the start of a text, or null. */
export const requestedFailureAtStart = (text: string): string | null =>
  text.search(requested) === 0 ? requestedFailureIn(text) : null;
