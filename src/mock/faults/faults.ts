import { Random } from "../seed/random.ts";

/** What goes wrong with a job that a fault is set for. */
export interface JobFailure {
  readonly code: string;
  readonly message: string;
}

/** A fault as it is ordered (interface, serve --mock, Faults): whom it meets, and the one thing that it does. */
export interface FaultOrder {
  readonly match: {
    readonly method?: string | undefined;
    /** What the path begins with, as it was sent. */
    readonly path?: string | undefined;
    readonly job?: JobKind | undefined;
  };
  /** How often it acts; for ever unless told. */
  readonly times?: number | undefined;
  /** How likely it acts when it matches; always unless told. */
  readonly probability?: number | undefined;
  readonly status?: number | undefined;
  readonly delay_ms?: number | undefined;
  readonly drop?: "before" | "after" | undefined;
  readonly truncate?: number | undefined;
  readonly fail?: JobFailure | undefined;
}
export type JobKind = "import" | "export" | "task";

/** A fault as GET /_mock/faults shows it: its number, as it was ordered, and how often it has acted. */
export type FaultReport = FaultOrder & { readonly id: number; readonly acted: number };

/** What meets one request. */
export interface RequestFault {
  /** How long its work is put off, in milliseconds. */
  delayMs: number;
  /** What it is answered with in place of its work. */
  status: number | null;
  /** When its connection is cut: before its work, after it, or after so many bytes of the answer's body. */
  cut: "before" | "after" | number | null;
}

interface StandingFault {
  readonly id: number;
  readonly order: FaultOrder;
  readonly random: Random;
  acted: number;
}

/** So many are remembered; the oldest that are used up make room. */
const mostFaults = 1_000;

/** What a test has ordered to go wrong. It is about this mock, not about the service, so no snapshot has it. */
export class Faults {
  /** In the order in which they were given. */
  #faults: StandingFault[] = [];
  /** Those of them that may still act. */
  #standing: StandingFault[] = [];
  #given = 0;

  /** Whether nothing can go wrong: all that a request pays where no fault is set. */
  get none(): boolean {
    return this.#standing.length === 0;
  }

  /**
   * Sets a fault; undefined when there is no room for one more. Its dice are its own, thrown from `secret` and its number:
   * a seed repeats them, and no id is another because of them.
   */
  add(order: FaultOrder, secret: string): FaultReport | undefined {
    if (this.#faults.length >= mostFaults) {
      const oldest = this.#faults.findIndex(isUsedUp);
      if (oldest < 0) return undefined;
      this.#faults.splice(oldest, 1);
    }
    const id = ++this.#given;
    const fault = { id, order, random: Random.from(`fault ${id} ${secret}`), acted: 0 };
    this.#faults.push(fault);
    this.#standing.push(fault);
    return reportOf(fault);
  }

  list(): FaultReport[] {
    return this.#faults.map(reportOf);
  }

  /** Takes all of them back and tells how many there were. */
  clear(): number {
    const count = this.#faults.length;
    this.#faults = [];
    this.#standing = [];
    return count;
  }

  /** As it was at the start: the next fault is the first again. */
  reset(): void {
    this.clear();
    this.#given = 0;
  }

  /**
   * What meets a request; null for nothing. The first delay that matches acts, and the first fault of any other kind. A
   * replay is no work, so there is nothing to put off or to answer otherwise; its connection may still be cut.
   */
  ofRequest(method: string, path: string, isReplay: boolean): RequestFault | null {
    if (this.none) return null;
    let delayed = false;
    let met: RequestFault | null = null;
    for (const fault of [...this.#standing]) {
      const { match, delay_ms, status, drop, truncate } = fault.order;
      if (match.job !== undefined) continue;
      if (match.method !== undefined && match.method !== method) continue;
      if (match.path !== undefined && !path.startsWith(match.path)) continue;
      const isDelay = delay_ms !== undefined;
      if (isReplay && (isDelay || status !== undefined)) continue;
      const isTaken = isDelay ? delayed : met !== null && (met.status !== null || met.cut !== null);
      if (isTaken || !this.#acts(fault)) continue;
      met ??= { delayMs: 0, status: null, cut: null };
      if (isDelay) {
        delayed = true;
        met.delayMs = delay_ms;
      } else {
        met.status = status ?? null;
        met.cut = drop ?? truncate ?? null;
      }
    }
    return met;
  }

  /** How a job that is about to run is to fail; null for not at all. */
  ofJob(job: JobKind): JobFailure | null {
    const matching = this.#standing.filter(({ order }) => order.match.job === job);
    return matching.find((fault) => this.#acts(fault))?.order.fail ?? null;
  }

  /** Throws the dice for a fault that matches, and counts it when it acts. */
  #acts(fault: StandingFault): boolean {
    const { probability = 1 } = fault.order;
    if (probability < 1 && fault.random.next() >= probability) return false;
    fault.acted++;
    if (isUsedUp(fault)) this.#standing = this.#standing.filter((one) => one !== fault);
    return true;
  }
}

const isUsedUp = ({ order, acted }: StandingFault): boolean =>
  order.times !== undefined && acted >= order.times;

const reportOf = ({ id, order, acted }: StandingFault): FaultReport => ({ id, ...order, acted });
