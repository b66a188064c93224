import type { ProgressEvent } from "../../flows/progress-event.ts";
import { byteText, grouped } from "../../flows/words.ts";
import type { Context } from "../context/context.ts";
import type { Paint } from "./paint.ts";

export interface ProgressView {
  update(event: ProgressEvent): void;
  /** Prints a line above the bar; returns false if no bar is shown, so that the caller prints the line. */
  above?(text: string): boolean;
  /** Hides the bar for data on the same terminal, until the next update after the data has ended its line. */
  makeRoom?(endsLine: boolean): void;
  /** Hides the bar until the next update, to make room for a prompt. */
  pause?(): void;
  /** Removes the progress from the screen; later updates are ignored. */
  end(): void;
}

export interface ProgressPlace {
  context: Context;
  silent: boolean;
  /** Whether progress is JSON lines (`--progress json`). */
  isJson: boolean;
  paint: Paint;
  /** As `Io.visible`. */
  visible(text: string): string;
}

/** The pace of a step: units per second and the seconds left, each null while unknown. */
export interface Pace {
  perSecond: number | null;
  secondsLeft: number | null;
}

/**
 * The pace is measured over this time, so that an early stall does not spoil the estimate for good. It is a
 * complete rate limit window (Limits): a shorter time would cover either only a burst, or only the wait for
 * the next window.
 */
const windowMs = 60_000;

const sampleMs = 250;

/** Measures the pace of one step over the last minute. */
export class PaceMeter {
  #samples: { at: number; done: number }[] = [];
  /** The latest event, its time, and the time left then (milliseconds). */
  #latest: { event: ProgressEvent; at: number; left: number } | null = null;

  /** The pace at `now` (milliseconds) after the latest `event`; it falls while no new event arrives. */
  measure(event: ProgressEvent, now: number): Pace {
    // A flow may report every row; four samples per second are enough.
    if (now - (this.#samples.at(-2)?.at ?? Number.NEGATIVE_INFINITY) < sampleMs) this.#samples.pop();
    // The time before the first unit reveals no pace: the step may wait for the next rate limit window.
    if (event.done === 0) this.#samples = [];
    this.#samples.push({ at: now, done: event.done });
    while (this.#samples.length > 2 && this.#samples[1]!.at <= now - windowMs) this.#samples.shift();
    const perSecond = this.#perSecond(event, now);
    // A step at its total has ended, although the next one may not have started.
    if (event.total === null || event.done >= event.total) return { perSecond, secondsLeft: null };
    const byRate = perSecond === null ? null : (event.total - event.done) / perSecond;
    const least = event.leastMsLeft ?? 0;
    if (this.#latest?.event !== event) {
      this.#latest = { event, at: now, left: Math.max(least, (byRate ?? 0) * 1000) };
    }
    // While the rate limit holds requests, the measured pace is meaningless: count the time left down
    // instead.
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

/** A pace for people, e.g. `120/s`, `4.5/s` or `1.2 MB/s`; empty while unknown. */
export function rateText({ perSecond }: Pace, { unit }: Pick<ProgressEvent, "unit"> = {}): string {
  if (perSecond === null) return "";
  if (unit === "bytes") return `${byteText(perSecond)}/s`;
  return `${perSecond >= 10 ? grouped(Math.round(perSecond)) : perSecond.toFixed(1)}/s`;
}

/** The time left, e.g. `40 s left`, `3 min 20 s left` or `2 h 5 min left`; empty while unknown. */
export function leftText({ secondsLeft }: Pace): string {
  if (secondsLeft === null) return "";
  const seconds = Math.ceil(secondsLeft);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** E.g. `1,200 of 2,000` or `12.4 MB / about 96.0 MB`; only the number done without a total. */
export function doneText({ done, total, unit, isEstimate = false }: ProgressEvent): string {
  const text = unit === "bytes" ? byteText : grouped;
  if (total === null) return text(done);
  return `${text(done)}${unit === "bytes" ? " / " : " of "}${isEstimate ? "about " : ""}${text(total)}`;
}
