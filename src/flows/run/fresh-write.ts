// A write that had to wait must not overwrite what another client has done meanwhile.

import type { Service } from "../service.ts";
import { graceMs, RequestInFlight } from "./requests.ts";

/** How long a look at what a write changes holds, in milliseconds. */
const freshMs = 1_000;

/** The time after which a request that still waits looks again: before the look no longer holds. */
const lookAgainMs = 600;

/**
 * So often a request is sent, with its retries, before it is no longer withdrawn for the age of its look: it would begin with
 * new retries each time, and never end where the service keeps failing.
 */
const mostSent = 6;

/** Receives whether the service may have done a request, when it is sent and with each response. */
type OnDoubt = (inDoubt: boolean) => void;

/** A write, and the check whether it may still be sent. */
export interface FreshWrite<Reason extends object> {
  /** When that was last checked. */
  readonly lookedAt: number;
  /** The reason not to send it, by a new read; null if there is none. */
  look(signal: AbortSignal): Promise<Reason | null>;
  send(options: { signal: AbortSignal; onDoubt: OnDoubt; idempotencyKey: string }): Promise<unknown>;
}

type Host = Pick<Service, "clock" | "signal"> & { readonly newKey: () => string };

/**
 * Sends a write, which is at most a second after a look then, however long the rate limit or a retry held it back. Resolves
 * to the reason why it was not sent; to null once it is done.
 */
export async function sendFresh<Reason extends object>(
  write: FreshWrite<Reason>,
  host: Host,
): Promise<Reason | null> {
  const idempotencyKey = host.newKey();
  let { lookedAt } = write;
  let sent = 0;
  for (;;) {
    host.signal.throwIfAborted();
    if (host.clock.now() - lookedAt > freshMs) {
      lookedAt = host.clock.now();
      const reason = await write.look(host.signal);
      if (reason !== null) return reason;
    }
    const attempt = new Attempt(write, lookedAt, host, sent);
    if (await attempt.isSent(idempotencyKey)) return null;
    if (attempt.reason !== null) return attempt.reason;
    ({ lookedAt, sent } = attempt);
  }
}

/** A request with its retries, watched while it waits. */
class Attempt<Reason extends object> {
  /** The reason not to send it, found while it waited. */
  reason: Reason | null = null;
  readonly #request = new RequestInFlight();
  #isWithdrawn = false;
  #isOver = false;
  #cancel = () => {};

  constructor(
    private readonly write: FreshWrite<Reason>,
    public lookedAt: number,
    private readonly host: Host,
    /** How often it was sent. */
    public sent: number,
  ) {}

  /** False if it was withdrawn, because it must not be sent or the look was too old. */
  async isSent(idempotencyKey: string): Promise<boolean> {
    const { signal, clock } = this.host;
    let cancelCut = () => {};
    const onInterrupt = () => {
      this.#request.leave(signal.reason);
      cancelCut = clock.at(clock.now() + graceMs, () => this.#request.cut(signal.reason));
    };
    signal.addEventListener("abort", onInterrupt, { once: true });
    this.#watch();
    try {
      await this.write.send({ signal: this.#request.signal, onDoubt: this.#onDoubt, idempotencyKey });
      return true;
    } catch (error) {
      if (!this.#isWithdrawn || signal.aborted) throw error;
      return false;
    } finally {
      this.#isOver = true;
      this.#cancel();
      cancelCut();
      signal.removeEventListener("abort", onInterrupt);
    }
  }

  /** Each try to send it, also a retry, is the last moment to withdraw it: no byte has gone then. */
  readonly #onDoubt: OnDoubt = (inDoubt) => {
    this.#request.onDoubt(inDoubt);
    const isOld = this.host.clock.now() - this.lookedAt > freshMs;
    if (!inDoubt) return;
    if (this.reason !== null || (isOld && this.sent < mostSent)) this.#withdraw();
    else this.sent++;
  };

  #withdraw(): void {
    this.#isWithdrawn = true;
    this.#request.cut(new Error("withdrawn"));
  }

  #watch(): void {
    this.#cancel = this.host.clock.at(this.lookedAt + lookAgainMs, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    const startedAt = this.host.clock.now();
    try {
      this.reason = await this.write.look(this.#request.signal);
    } catch {
      // The next attempt looks itself, and fails with the error.
      return;
    }
    if (this.#isOver) return;
    if (this.reason === null) {
      this.lookedAt = startedAt;
      this.#watch();
    } else if (!this.#request.inDoubt) this.#withdraw();
  }
}
