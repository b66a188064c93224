/** How far a job is. A flow emits these; only the command line draws. */
export interface ProgressEvent {
  /** What is being done, e.g. `processing`; a new one begins a new bar. */
  step: string;
  done: number;
  /** Null while it is not known. */
  total: number | null;
  /** What `done` and `total` count: things, unless it is said. */
  unit?: "bytes";
  /** How long the rest takes at the very least from now on, in milliseconds, as the service lets no more through. */
  leastMsLeft?: number;
  /** A few words more, e.g. `2 failed`, or how many rows are imported while others are still being sent. */
  note?: string;
}
