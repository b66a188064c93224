/** An import that this machine has sent: the service has no list of them. */
export interface SentImport {
  readonly id: string;
  readonly baseUrl: string;
  readonly runId: string;
  /** The file as it was typed. */
  readonly file: string;
  readonly mode: string;
  /** How many rows it has. */
  readonly rows: number;
  /** When it was accepted, in Unix milliseconds of this machine's clock. */
  readonly at: number;
  /** The import's status as it was last seen. */
  readonly status: string;
}

export interface SentImports {
  /** Adds one, or has it begin anew under the same id. */
  add(sent: SentImport): void;
  seen(id: string, status: string): void;
  find(id: string): SentImport | null;
  /** Those of one base URL, or of all (null), the newest first. */
  list(baseUrl: string | null): Iterable<SentImport>;
}
