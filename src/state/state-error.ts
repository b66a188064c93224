import { CatError, fileFault } from "../errors.ts";

/** What can be wrong with the file of a state. */
export type StateProblem =
  | "state_newer"
  | "state_is_link"
  | "state_has_links"
  | "state_not_file"
  | "state_foreign"
  | "state_not_ledger"
  | "state_no_database"
  | "state_corrupt"
  | "state_not_writable"
  | "state_full"
  | "state_gone"
  | "state_busy"
  | "state_fault"
  | "state_unavailable";

/** Those that are about a file. */
type FileProblem = Exclude<StateProblem, "state_unavailable">;

/** The file with what this machine must not forget cannot be used; what stands in it is left as it is. */
export class StateError extends CatError {
  override readonly name = "StateError";
  override readonly code: StateProblem;

  constructor(code: StateProblem, message: string, detail: { hint: string; cause?: unknown }) {
    super(message, { type: "state", code, ...detail });
    this.code = code;
  }
}

/** Where a profile's state can be kept instead. */
const elsewhere = "name another folder in CAT_HOME (or, for an import, another FILE for --ledger)";

const damaged: readonly [string, string] = [
  "is damaged, or was not written by this program",
  "Put a copy of it back, or move it away (with its -wal and -shm, if there are any) to begin with an empty one. That forgets what was " +
    "imported: an interrupted run cannot be gone on with, and a file that is imported again in mode upsert adds its photos a second time.",
];

const sentences: Readonly<Record<FileProblem, readonly [string, string]>> = {
  state_newer: [
    "was written by a newer version of this program, which this one cannot read",
    `Update this program, or ${elsewhere}.`,
  ],
  state_is_link: [
    "is a symbolic link, and state is only kept in a file of its own",
    `Put the file itself in the link's place, or ${elsewhere}.`,
  ],
  state_has_links: [
    "has another name as well (a hard link), and state is only kept in a file of its own",
    `Put a copy of it in its place, or ${elsewhere}.`,
  ],
  state_not_file: ["is no regular file", `Move it away, or ${elsewhere}.`],
  state_foreign: ["is a database of another program", `Move it away, or ${elsewhere}.`],
  state_not_ledger: [
    "is not a ledger: this program did not write it",
    "Name another file with --ledger; if it was a ledger once, put a copy of it back.",
  ],
  state_no_database: damaged,
  state_corrupt: damaged,
  state_not_writable: ["cannot be written", `Make it and its folder writable for you, or ${elsewhere}.`],
  state_full: [
    "cannot be written: the disk is full",
    "Make room and give the same command again; nothing that was written is lost.",
  ],
  state_gone: [
    "was moved or removed while it was in use",
    "Put it back with its -wal, where you can, before the command is given again: what was sent last stands only there.",
  ],
  state_busy: [
    "is being written by another process for too long",
    "Give the same command again once the other one has ended.",
  ],
  state_fault: [
    "could not be read or written",
    `Look whether its disk is full or at fault and give the same command again, or ${elsewhere}.`,
  ],
};

/** The error for a problem with the file at `path`; `reason` is the system's own word for it. */
export function stateError(
  problem: FileProblem,
  path: string | null,
  detail: { reason?: string; cause?: unknown } = {},
): StateError {
  const [what, hint] = sentences[problem];
  const kind = problem === "state_not_ledger" ? "the file" : "the state file";
  const file = path === null ? "the state in memory" : `${kind} ${path}`;
  const reason = detail.reason === undefined ? "" : ` (${detail.reason})`;
  return new StateError(problem, `${file} ${what}${reason}`, { hint, cause: detail.cause });
}

/** The error for a call to the file system that failed, on the way to the file at `path`; one that is ours already stays. */
export function fileSystemError(path: string, cause: unknown): StateError {
  if (cause instanceof StateError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === undefined) throw cause;
  const fault = fileFault(cause);
  const isFull = fault?.kind === "full";
  return stateError(isFull ? "state_full" : "state_not_writable", path, {
    cause,
    ...(isFull ? {} : { reason: reasons[code] ?? fault?.why ?? code }),
  });
}

/** On the way to a file it is most often the folder. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  EEXIST: "what should be its folder is a file",
  ENOTDIR: "what should be its folder is a file",
};
