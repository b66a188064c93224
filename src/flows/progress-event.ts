/** The progress of a job. A flow emits these events; only the command line draws them. */
export interface ProgressEvent {
  /** The current step, e.g. `processing`; a new one starts a new bar. */
  step: string;
  done: number;
  /** Null while unknown. */
  total: number | null;
  /** Whether `total` is an estimate. */
  isEstimate?: boolean;
  /** The unit of `done` and `total` (default: things). */
  unit?: "bytes";
  /** The minimum time left in milliseconds, because of the service's limits. */
  leastMsLeft?: number;
  /** A short addition, e.g. `2 failed`, or the number of rows imported while others are still being sent. */
  note?: string;
}
