/** One command on one file, from its start to the result of its last row, across any number of processes. */
export interface Run {
  readonly id: string;
  readonly account: number;
  /** The kind of command, e.g. `import`: runs of one kind never query, settle or block those of another. */
  readonly kind: string;
  /** The identity of the command: a digest of the file's bytes and of every option that changes what is sent. */
  readonly identity: string;
  /** The file name as typed, for messages. */
  readonly file: string;
  /** The options that its batches were sent with, as plain data; opaque here. */
  readonly options: Readonly<Record<string, string>>;
  /** Its start, in Unix milliseconds. */
  readonly startedAt: number;
}

/** The process that holds a run, if not this one. */
export interface RunOwner {
  readonly pid: number;
  /** When it took the run, in Unix milliseconds. */
  readonly since: number;
}

/** The right to work on a run; the system releases it when the process ends, for whatever reason. */
export interface RunHold {
  release(): void;
}

/** The runs of this machine's profile. */
export interface Runs {
  /** The open run of that identity; null if none. */
  findOpen(of: Pick<Run, "account" | "kind" | "identity">): Run | null;
  /** The last ended run of that identity; null if none. */
  findEnded(of: Pick<Run, "account" | "kind" | "identity">): Run | null;
  /** A run by its ID, of any account; null if none. */
  get(id: string): Run | null;
  /** Every open run of the account, of any kind, oldest first. */
  open(account: number): Run[];
  begin(run: Run): void;
  /** Records that the run is about to change something at the service. */
  writes(account: number, runId: string): void;
  /** The ID of the last run that made changes; null if none. */
  lastWriter(account: number): string | null;
  /**
   * Ends a run after everything about its rows was reported. Its settled batches and patched rows are
   * deleted. An unsettled batch stays, and blocks its references for other runs until one of them settles it.
   */
  end(runId: string, endedAt: number): void;
  /**
   * Takes an identity (of one kind of run) for this process, so that no two processes work on the same run.
   * Returns the owner if another live process has it.
   */
  hold(account: number, identity: string, owner: RunOwner): RunHold | { readonly heldBy: RunOwner };
}
