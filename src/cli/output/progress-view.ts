import type { ProgressEvent } from "../../flows/progress-event.ts";
import type { Context } from "../context/context.ts";
import type { Paint } from "./paint.ts";

/** Shows the progress of a job. */
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

/** The terminal and the settings of a view. */
export interface ProgressPlace {
  context: Context;
  silent: boolean;
  paint: Paint;
  /** As `Io.visible`. */
  visible(text: string): string;
}
