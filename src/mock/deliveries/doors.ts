import { Turnstile } from "../work/turnstile.ts";
import type { Underway } from "../work/underway.ts";

/** So many events go to one webhook at once. */
const atOnce = 16;

interface Door {
  readonly turnstile: Turnstile;
  /** The mark of the first that came since nobody was there. */
  since: number;
}

/** Where the events pass on their way out, a door for each webhook. */
export class Doors {
  readonly #underway: Underway;
  readonly #doors = new Map<string, Door>();

  constructor(underway: Underway) {
    this.#underway = underway;
  }

  /** Who comes in here goes out to that webhook. */
  turnstileOf(webhookId: string): Turnstile {
    return this.#doorOf(webhookId).turnstile;
  }

  /**
   * The mark of an attempt that is about to begin. One that must stand in line is as old as those it waits for: who does not
   * wait for them must not wait for it either.
   */
  markFor(webhookId: string): number {
    const door = this.#doorOf(webhookId);
    if (door.turnstile.isFull) return door.since;
    const mark = this.#underway.mark();
    if (door.turnstile.isEmpty) door.since = mark;
    return mark;
  }

  clear(): void {
    this.#doors.clear();
  }

  #doorOf(webhookId: string): Door {
    const door = this.#doors.get(webhookId) ?? { turnstile: new Turnstile(atOnce), since: 0 };
    this.#doors.set(webhookId, door);
    return door;
  }
}
