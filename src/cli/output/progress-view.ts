import type { Context } from "../context.ts";
import type { Paint } from "./paint.ts";

/** How far a job is. A flow emits these; only the command line draws. */
export interface ProgressEvent {
  /** What is being done, e.g. `processing`; a new one begins a new bar. */
  step: string;
  done: number;
  /** Null while it is not known. */
  total: number | null;
  /** A few words more, e.g. `2 failed`. */
  note?: string;
}

/** Where a job's progress is shown. */
export interface ProgressView {
  update(event: ProgressEvent): void;
  /** Writes a line above the bar, where there is one; false when there is none and the line is the caller's to write. */
  above?(text: string): boolean;
  /** Leaves the screen as it should stay; later updates are ignored. */
  end(): void;
}

/** What a view needs to know. */
export interface ProgressPlace {
  context: Context;
  silent: boolean;
  paint: Paint;
}
