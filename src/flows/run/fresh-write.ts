// A write that had to wait must not overwrite what another client has done meanwhile.

import type { Clock } from "../../clock.ts";
import { Withdrawn } from "../../http/errors.ts";
import type { RequestInFlight } from "./requests.ts";

/** How long a look at what a write changes holds, in milliseconds from its end. */
export const freshMs = 1_000;

/** The time after which a request that still waits looks again: before the look no longer holds. */
const lookAgainMs = 600;

/** Withdrawals before a request is sent despite an old look: each restarts its retries, maybe for ever. */
const mostSent = 6;

export interface FreshAttempt {
  readonly signal: AbortSignal;
  /** Receives whether the service may have done it, when it is sent and with each response. */
  readonly onDoubt: (inDoubt: boolean) => void;
  /** Whether an earlier one, withdrawn since, may have been carried out. */
  readonly again: boolean;
  readonly request: RequestInFlight;
}

export interface FreshWrite<Reason extends object> {
  /** When that was last checked; infinity if it may be sent at any time. */
  readonly lookedAt: number;
  /** Whether it is checked while it waits in the queue, or when its turn comes. Default: true. */
  readonly isWatched?: boolean;
  /** The reason not to send it, by a new read; null if there is none. */
  look(signal: AbortSignal): Promise<Reason | null>;
  /** Sends it, each time under the same idempotency key. */
  send(attempt: FreshAttempt): Promise<unknown>;
}

/** A write that was not sent: `again` as in its last attempt. */
export interface WithheldWrite<Reason> {
  readonly reason: Reason;
  readonly again: boolean;
}

export interface FreshHost {
  readonly clock: Clock;
  /** Begins a request, as `sendEach` passes it. */
  readonly begin: () => RequestInFlight;
}

/** Sends a write within a second of a look. Resolves to the reason why it was not sent; null once done. */
export async function sendFresh<Reason extends object>(
  write: FreshWrite<Reason>,
  host: FreshHost,
): Promise<WithheldWrite<Reason> | null> {
  let { lookedAt } = write;
  let [sent, again] = [0, false];
  for (;;) {
    const request = host.begin();
    if (host.clock.now() - lookedAt > freshMs && sent < mostSent) {
      request.onDoubt(false);
      const reason = await write.look(request.signal);
      if (reason !== null) return { reason, again };
      lookedAt = host.clock.now();
      request.onDoubt(true);
    }
    const attempt = new Attempt(write, lookedAt, request, host.clock, sent);
    if (await attempt.isSent(again)) return null;
    ({ lookedAt, sent } = attempt);
    again ||= attempt.again;
    if (attempt.reason !== null) return { reason: attempt.reason, again };
  }
}

/** A request with its retries, watched while it waits. */
class Attempt<Reason extends object> {
  /** The reason not to send it, found while it waited. */
  reason: Reason | null = null;
  /** Whether a try before it was withdrawn may have been carried out. */
  again = false;
  #isWithdrawn = false;
  #isOver = false;
  #cancel = () => {};

  constructor(
    private readonly write: FreshWrite<Reason>,
    public lookedAt: number,
    private readonly request: RequestInFlight,
    private readonly clock: Clock,
    /** How often it was sent. */
    public sent: number,
  ) {}

  /** False if it was withdrawn, because it must not be sent or the look was too old. */
  async isSent(again: boolean): Promise<boolean> {
    const { request, write } = this;
    if (write.isWatched !== false) this.#watch();
    try {
      await write.send({ signal: request.signal, onDoubt: this.#onDoubt, again, request });
      return true;
    } catch (error) {
      if (!this.#isWithdrawn) throw error;
      return false;
    } finally {
      this.#isOver = true;
      this.#cancel();
    }
  }

  /** Each try to send it, also a retry, is the last moment to withdraw it: no byte has gone then. */
  readonly #onDoubt = (inDoubt: boolean): void => {
    const wasInDoubt = this.request.inDoubt;
    const isOld = this.clock.now() - this.lookedAt > freshMs;
    if (inDoubt && (this.reason !== null || (isOld && this.sent < mostSent))) {
      this.#withdraw(wasInDoubt);
      return;
    }
    if (inDoubt) this.sent++;
    this.request.onDoubt(inDoubt);
  };

  #withdraw(again: boolean): void {
    this.again = again;
    this.#isWithdrawn = true;
    this.request.cut(new Withdrawn());
  }

  #watch(): void {
    this.#cancel = this.clock.at(this.lookedAt + lookAgainMs, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    try {
      this.reason = await this.write.look(this.request.signal);
    } catch {
      // The next attempt looks itself, and fails with the error.
      return;
    }
    if (this.#isOver) return;
    if (this.reason === null) {
      this.lookedAt = this.clock.now();
      this.#watch();
    } else if (!this.request.inDoubt) this.#withdraw(false);
  }
}
