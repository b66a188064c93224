import { byteText } from "../../flows/byte-text.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import { grouped } from "./numbers.ts";

/** How fast a step goes: units a second and the seconds that are left, each null while it cannot be told. */
export interface Pace {
  perSecond: number | null;
  secondsLeft: number | null;
}

/**
 * Looking back this far, an early stall does not spoil the estimate for good. It is a whole rate window (Limits): a shorter
 * look sees either only what goes through at once, or only the wait for the next window.
 */
const windowMs = 60_000;

const sampleMs = 250;

/** Measures one step's pace over the last minute. */
export class PaceMeter {
  #samples: { at: number; done: number }[] = [];
  /** The latest event, when it came, and how much time was left then (milliseconds). */
  #latest: { event: ProgressEvent; at: number; left: number } | null = null;

  /** The pace at `now` (milliseconds), where `event` is the latest: it falls while nothing more comes. */
  measure(event: ProgressEvent, now: number): Pace {
    // A flow may tell of every row; four samples a second are plenty.
    if (now - (this.#samples.at(-2)?.at ?? Number.NEGATIVE_INFINITY) < sampleMs) this.#samples.pop();
    // How long nothing has begun says nothing of the rate, as when it waits for the next rate window.
    if (event.done === 0) this.#samples = [];
    this.#samples.push({ at: now, done: event.done });
    while (this.#samples.length > 2 && this.#samples[1]!.at <= now - windowMs) this.#samples.shift();
    const perSecond = this.#perSecond(event, now);
    // A step at its total has ended, though the next one may not have begun.
    if (event.total === null || event.done >= event.total) return { perSecond, secondsLeft: null };
    const byRate = perSecond === null ? null : (event.total - event.done) / perSecond;
    const least = event.leastMsLeft ?? 0;
    if (this.#latest?.event !== event) {
      this.#latest = { event, at: now, left: Math.max(least, (byRate ?? 0) * 1000) };
    }
    // While the service lets no more through, the time left runs down, once it has let anything through; what does not move
    // then says nothing of the rate.
    const { at, left } = this.#latest;
    const passed = event.done === 0 ? 0 : now - at;
    return { perSecond, secondsLeft: passed < least ? (left - passed) / 1000 : byRate };
  }

  #perSecond(event: ProgressEvent, now: number): number | null {
    const first = this.#samples[0]!;
    const seconds = (now - first.at) / 1000;
    return seconds < 0.5 || event.done <= first.done ? null : (event.done - first.done) / seconds;
  }
}

/** A pace as people read it, e.g. `120/s`, `4.5/s` or `1.2 MB/s`; empty when it is not known. */
export function rateText({ perSecond }: Pace, { unit }: Pick<ProgressEvent, "unit"> = {}): string {
  if (perSecond === null) return "";
  if (unit === "bytes") return `${byteText(perSecond)}/s`;
  return `${perSecond >= 10 ? grouped(Math.round(perSecond)) : perSecond.toFixed(1)}/s`;
}

/** The time left, e.g. `40 s left`, `3 min 20 s left` or `2 h 5 min left`; empty when it is not known. */
export function leftText({ secondsLeft }: Pace): string {
  if (secondsLeft === null) return "";
  const seconds = Math.ceil(secondsLeft);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** Done of total, e.g. `1,200 of 2,000` or `12.4 MB / 96.0 MB`, or only what is done while the total is not known. */
export function doneText({ done, total, unit }: ProgressEvent): string {
  const text = unit === "bytes" ? byteText : grouped;
  if (total === null) return text(done);
  return `${text(done)}${unit === "bytes" ? " / " : " of "}${text(total)}`;
}
