/** An import or an export job that this machine has started: the service has no list of them. */
export interface SentJob {
  readonly id: string;
  /** The kind of its run, e.g. `import`. */
  readonly kind: string;
  readonly baseUrl: string;
  readonly runId: string;
  /** The file as it was typed. */
  readonly file: string;
  /** The mode of an import, or the format of an export. */
  readonly variant: string;
  /** How many rows, or products, it has. */
  readonly rows: number;
  /** When it was accepted, in Unix milliseconds of this machine's clock. */
  readonly at: number;
  /** The job's status when it was last seen. */
  readonly status: string;
}

export interface SentJobs {
  /** Adds one, or replaces the one with the same ID. */
  add(sent: SentJob): void;
  seen(id: string, status: string): void;
  find(id: string): SentJob | null;
  /** Those of one kind, and of one base URL or of all (null), the newest first. */
  list(kind: string, baseUrl: string | null): Iterable<SentJob>;
}
