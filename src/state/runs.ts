/** One command on one file, from its start to the end of its last row, over however many processes. */
export interface Run {
  readonly id: string;
  readonly account: number;
  /** What the command does, e.g. `import`: runs of one kind never look up, settle or block those of another. */
  readonly kind: string;
  /** What makes it the same command: a digest of the file's bytes and of every option that changes what is sent. */
  readonly identity: string;
  /** The file as it was typed, for messages. */
  readonly file: string;
  /** The options that its batches were sent with, as plain data; opaque here. */
  readonly options: Readonly<Record<string, string>>;
  /** When it began, in Unix milliseconds. */
  readonly startedAt: number;
}

/** Who holds a run, when it is not this process. */
export interface RunOwner {
  readonly pid: number;
  /** When it took the run, in Unix milliseconds. */
  readonly since: number;
}

/** The right to work on a run; the system takes it back when the process ends, however it ends. */
export interface RunHold {
  release(): void;
}

/** The runs of this machine's profile. */
export interface Runs {
  /** The run of that identity which was begun and has not ended; null when there is none. */
  findOpen(of: Pick<Run, "account" | "kind" | "identity">): Run | null;
  /** Every run of the account that has not ended, of any kind, the oldest first. */
  open(account: number): Run[];
  begin(run: Run): void;
  /** It is about to change something at the service that it has not changed before. */
  writes(account: number, runId: string): void;
  /** The id of the run of which that was told last; null before there was one. */
  lastWriter(account: number): string | null;
  /**
   * It has ended: nothing is left to tell of its rows. Its settled batches and its patched rows are forgotten; a batch that is
   * not settled stays, and keeps its references from other runs until one of them has settled it.
   */
  end(runId: string, endedAt: number): void;
  /**
   * Takes an identity, which is of one kind of run, for this process: no two processes work on the same run. Gives the owner when another living
   * process has it.
   */
  hold(account: number, identity: string, owner: RunOwner): RunHold | { readonly heldBy: RunOwner };
}
