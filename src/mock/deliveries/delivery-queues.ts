import { Turnstile } from "../work/turnstile.ts";
import type { WorkInProgress } from "../work/work-in-progress.ts";

/** Limit of simultaneous deliveries per webhook. */
const atOnce = 16;

interface Queue {
  readonly turnstile: Turnstile;
  /** The mark of the first attempt since the queue was last empty. */
  since: number;
}

/** One queue of outgoing events per webhook. */
export class DeliveryQueues {
  readonly #workInProgress: WorkInProgress;
  readonly #queues = new Map<string, Queue>();

  constructor(workInProgress: WorkInProgress) {
    this.#workInProgress = workInProgress;
  }

  /** The turnstile that every delivery to the webhook passes. */
  turnstileOf(webhookId: string): Turnstile {
    return this.#queueOf(webhookId).turnstile;
  }

  /**
   * The mark of an attempt that is about to begin. A queued attempt gets the mark of the attempts that it
   * waits for: a caller that does not wait for them must not wait for it either.
   */
  markFor(webhookId: string): number {
    const queue = this.#queueOf(webhookId);
    if (queue.turnstile.isFull) return queue.since;
    const mark = this.#workInProgress.mark();
    if (queue.turnstile.isEmpty) queue.since = mark;
    return mark;
  }

  clear(): void {
    this.#queues.clear();
  }

  #queueOf(webhookId: string): Queue {
    const queue = this.#queues.get(webhookId) ?? { turnstile: new Turnstile(atOnce), since: 0 };
    this.#queues.set(webhookId, queue);
    return queue;
  }
}
