import { Random } from "../seed/seed.ts";
import type { FaultOrder, JobFailure, JobKind } from "./fault-order.ts";
import type { FaultReply } from "./fault-response.ts";

/** A fault as GET /_mock/faults shows it: its number, its definition, and how often it has acted. */
export type FaultReport = FaultOrder & { readonly id: number; readonly acted: number };

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

interface ActiveFault {
  readonly id: number;
  readonly order: FaultOrder;
  readonly random: Random;
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
    const fault = { id, order, random: Random.from(`fault ${id} ${secret}`), acted: 0 };
    this.#faults.push(fault);
    return toReport(fault);
  }

  list(): FaultReport[] {
    return this.#faults.map(toReport);
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
  ofRequest(method: string, path: string, isReplay: boolean): RequestFault | null {
    const met: RequestFault = { ids: [], delayMs: 0, reply: null, cut: null };
    let isEnded = false;
    for (const fault of this.#faults) {
      const { delay_ms, status, headers, body, drop, truncate } = fault.order;
      if (!matchesRequest(fault.order, method, path)) continue;
      if (isReplay && (delay_ms !== undefined || status !== undefined)) continue;
      if ((isEnded && delay_ms === undefined) || !this.#acts(fault)) continue;
      met.ids.push(fault.id);
      if (delay_ms !== undefined) {
        met.delayMs += delay_ms;
        continue;
      }
      isEnded = true;
      met.reply = status === undefined ? null : { status, headers, body };
      met.cut = drop ?? truncate ?? null;
    }
    return met.ids.length === 0 ? null : met;
  }

  /** The failure of a job that is about to run; null if no fault matches. */
  ofJob(job: JobKind): JobFailure | null {
    const matching = this.#faults.filter(({ order }) => order.match.job === job);
    return matching.find((fault) => this.#acts(fault))?.order.fail ?? null;
  }

  /** Decides at random whether a matching fault acts, and counts it if so. */
  #acts(fault: ActiveFault): boolean {
    const { probability = 1 } = fault.order;
    if (isUsedUp(fault) || (probability < 1 && fault.random.next() >= probability)) return false;
    fault.acted++;
    return true;
  }
}

const matchesRequest = ({ match }: FaultOrder, method: string, path: string): boolean =>
  match.job === undefined &&
  (match.method === undefined || match.method === method) &&
  (match.path === undefined || path.startsWith(match.path));

const isUsedUp = ({ order, acted }: ActiveFault): boolean =>
  order.times !== undefined && acted >= order.times;

const toReport = ({ id, order, acted }: ActiveFault): FaultReport => ({ id, ...order, acted });

/** `fail-CODE` in a name (docs/mock-server.md, Faults); a code is lower-case words joined by underscores. */
const requested = /fail-([a-z]+(?:_[a-z]+)*)/;

/** The code of a `fail-CODE` anywhere in a text, or null. */
export const requestedFailureIn = (text: string): string | null => requested.exec(text)?.[1] ?? null;

/** The code of a `fail-CODE` at the start of a text, or null. */
export const requestedFailureAtStart = (text: string): string | null =>
  text.search(requested) === 0 ? requestedFailureIn(text) : null;
