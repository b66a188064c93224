/** An import or export job started from this machine: the service cannot list them. */
export interface SentJob {
  readonly id: string;
  /** The kind of its run, e.g. `import`. */
  readonly kind: string;
  readonly baseUrl: string;
  readonly runId: string;
  /** The file name as typed. */
  readonly file: string;
  /** The mode of an import, or the format of an export. */
  readonly variant: string;
  /** The number of rows, or products. */
  readonly rows: number;
  /** When it was accepted, in Unix milliseconds of the local clock. */
  readonly at: number;
  /** The last known status of the job. */
  readonly status: string;
}

export interface SentJobs {
  /** Adds a job, or replaces the one with the same ID. */
  add(sent: SentJob): void;
  seen(id: string, status: string): void;
  find(id: string): SentJob | null;
  /** The jobs of one kind, of one base URL or of all (null), newest first. */
  list(kind: string, baseUrl: string | null): Iterable<SentJob>;
}
