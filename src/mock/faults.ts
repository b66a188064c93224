/** What goes wrong with a job that a fault is set for. */
export interface JobFailure {
  readonly code: string;
  readonly message: string;
}

/** What a test has ordered to go wrong. */
export class Faults {
  /** How a job that is about to run is to fail; null for not at all. */
  ofJob(_job: "import" | "export" | "task"): JobFailure | null {
    return null;
  }
}
