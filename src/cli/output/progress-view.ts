import type { ProgressEvent } from "../../flows/progress-event.ts";
import type { Context } from "../context/context.ts";
import type { Paint } from "./paint.ts";

/** Where a job's progress is shown. */
export interface ProgressView {
  update(event: ProgressEvent): void;
  /** Writes a line above the bar, where there is one; false when there is none and the line is the caller's to write. */
  above?(text: string): boolean;
  /** Takes the bar away for data on the same terminal; until the next update, and until the line of the data has ended. */
  makeRoom?(endsLine: boolean): void;
  /** Takes the bar away until the next update, so that a person can be asked something. */
  pause?(): void;
  /** Leaves nothing on the screen; later updates are ignored. */
  end(): void;
}

/** What a view needs to know. */
export interface ProgressPlace {
  context: Context;
  silent: boolean;
  paint: Paint;
  /** As `Io.visible`. */
  visible(text: string): string;
}
