import type { Clock } from "../../../clock.ts";
import { type EventPattern, matches, matchingTypes } from "../../../flows/listen/forward.ts";
import type { PollHandler } from "../../../flows/listen/poller.ts";
import type { WebhookFault } from "../../../flows/listen/registration.ts";
import { type Came, cannotCome, longestWaitMs, nothingCame, nothingLeft, timedOut } from "./after-command.ts";

interface EndOptions {
  /** The events to wait for; null to listen until the interrupt. */
  readonly goal: { readonly events: EventPattern; readonly count: number } | null;
  readonly hasCommand: boolean;
  /** In milliseconds. */
  readonly timeout: number | undefined;
  /** Whether events come by polling, which has a bound of its own. */
  readonly isPolling: boolean;
  readonly clock: Clock;
}

/** Ends a listener: by its goal, by the end of its COMMAND, or because what it waits for does not come. */
export class ListenerEnd {
  readonly #stop = new AbortController();
  readonly #awaited: ReadonlySet<string>;
  #missing: number;
  #isRunning: boolean;
  #cancel = () => {};

  constructor(private readonly options: EndOptions) {
    const { goal, hasCommand } = options;
    this.#missing = goal?.count ?? 0;
    this.#isRunning = hasCommand;
    this.#awaited = new Set(matchingTypes(goal?.events ?? []).map((type) => type.split(".")[0]!));
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isWaiting(): boolean {
    return this.options.goal !== null && this.#missing > 0;
  }

  stop(reason?: unknown): void {
    this.#stop.abort(reason);
  }

  /** Starts the time of `--timeout`. */
  start(): void {
    const { timeout } = this.options;
    if (timeout !== undefined) this.#stopIn(timeout, () => timedOut(timeout, this.#came));
  }

  release(): void {
    this.#cancel();
  }

  received(type: string): void {
    const { goal, hasCommand } = this.options;
    if (goal === null || !matches(goal.events, type)) return;
    this.#missing--;
    if (this.#isRunning) return;
    if (this.#missing <= 0) this.stop();
    if (hasCommand) this.#waitNoLonger();
  }

  /** The end of the COMMAND. Returns whether the listener waits for more events. */
  commandEnded(exit: number): boolean {
    this.#isRunning = false;
    const waits = exit === 0 && this.#missing > 0;
    if (waits) this.#waitNoLonger();
    else this.stop();
    return waits;
  }

  /** The error of a webhook that gets no events any more; null to keep listening. */
  endsBy(fault: WebhookFault, webhookId: string): Error | null {
    const isCommandOver = this.options.hasCommand && !this.#isRunning && this.#missing > 0;
    return isCommandOver ? cannotCome(fault, webhookId, this.#came!) : null;
  }

  /** Ends a wait for what is not in progress. */
  onPoll(onNote: (sentence: string) => void): ReturnType<PollHandler> {
    const { goal, hasCommand } = this.options;
    // A poll that starts later knows all that the command has started.
    const isCommandOver = hasCommand && !this.#isRunning;
    return ({ inProgress, ended }) => {
      const isAwaited = (resource: string) => this.#awaited.has(resource);
      if (!isCommandOver || this.#missing <= 0 || [...inProgress].some(isAwaited)) return;
      // Something came, but not what was awaited: a failure, or fewer than --count.
      if ([...ended].some(isAwaited)) return this.stop(nothingLeft(this.#came!));
      const what = goal!.events.includes("*") ? "event" : goal!.events.join(" or ");
      onNote(`No ${what} came, because nothing was in progress.`);
      this.stop();
    };
  }

  get #came(): Came | null {
    const { goal } = this.options;
    return goal === null ? null : { count: goal.count, missing: this.#missing };
  }

  /** Bounds the wait for the next event after the end of the command. */
  #waitNoLonger(): void {
    const { timeout, isPolling } = this.options;
    if (timeout === undefined && !isPolling) this.#stopIn(longestWaitMs, () => nothingCame(this.#came!));
  }

  #stopIn(ms: number, why: () => Error): void {
    const { clock } = this.options;
    this.#cancel();
    this.#cancel = clock.at(clock.now() + ms, () => this.stop(why()));
  }
}
