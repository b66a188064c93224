import { CatError, fileProblem } from "../errors.ts";

/** Problems of a state file; `state_unavailable` concerns the library. */
type StateProblem = keyof typeof sentences | "state_unavailable";

/** The state file cannot be used; its content is left unchanged. */
export class StateError extends CatError {
  override readonly name = "StateError";
  override readonly code: StateProblem;

  constructor(code: StateProblem, message: string, detail: { hint: string; cause?: unknown }) {
    super(message, { type: "state", code, ...detail });
    this.code = code;
  }
}

const elsewhere = "set CAT_HOME to another folder (or, for an import, use another --ledger FILE)";

const damaged: readonly [string, string] = [
  "is damaged, or was not written by this program",
  "Restore a copy of it, or move it elsewhere (with its -wal and -shm files) to start with an empty one. " +
    "An empty one cannot resume runs, and importing a file again in mode upsert adds its photos a second time.",
];

const sentences = {
  state_newer: ["was written by a newer version of this program", `Update the program, or ${elsewhere}.`],
  state_is_link: [
    "is a symbolic link; it must be a regular file",
    `Replace the link with the file itself, or ${elsewhere}.`,
  ],
  state_has_links: [
    "has a second hard link; it must have only one name",
    `Replace it with a copy, or ${elsewhere}.`,
  ],
  state_not_file: ["is not a regular file", `Move it elsewhere, or ${elsewhere}.`],
  state_foreign: ["is the database of another program", `Move it elsewhere, or ${elsewhere}.`],
  state_not_ledger: [
    "is not a ledger of this program",
    "Use another --ledger FILE. If this file was a ledger, restore a copy of it.",
  ],
  state_no_database: damaged,
  state_corrupt: damaged,
  state_not_writable: ["cannot be written", `Make the file and its folder writable, or ${elsewhere}.`],
  state_full: [
    "cannot be written: the disk is full",
    "Free some space and run the same command again; nothing that was written is lost.",
  ],
  state_gone: [
    "was moved or removed while it was in use",
    "If you can, restore it with its -wal file before you run the command again: only they record the last rows sent.",
  ],
  state_busy: [
    "is locked by another process",
    "Wait for the other command to finish, then run this one again.",
  ],
  state_fault: [
    "could not be read or written",
    `Check the disk and run the same command again, or ${elsewhere}.`,
  ],
} as const;

/** The next step for each problem of a state file, by code. A function: every start loads this file. */
export const stateHints = (): Record<string, string> =>
  Object.fromEntries(Object.entries(sentences).map(([code, [, hint]]) => [code, hint]));

/** The error for a problem with the file at `path`; `reason` is the system's description. */
export function stateError(
  problem: keyof typeof sentences,
  path: string | null,
  detail: { reason?: string; cause?: unknown } = {},
): StateError {
  const [what, hint] = sentences[problem];
  const kind = problem === "state_not_ledger" ? "the file" : "the state file";
  const file = path === null ? "the state in memory" : `${kind} ${path}`;
  const reason = detail.reason === undefined ? "" : ` (${detail.reason})`;
  return new StateError(problem, `${file} ${what}${reason}`, { hint, cause: detail.cause });
}

/** The error for a failed call on the file at `path` or its folders; a StateError stays the same. */
export function fileSystemError(path: string, cause: unknown): StateError {
  if (cause instanceof StateError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === undefined) throw cause;
  const fault = fileProblem(cause);
  const isDiskFull = fault?.kind === "full";
  return stateError(isDiskFull ? "state_full" : "state_not_writable", path, {
    cause,
    ...(isDiskFull ? {} : { reason: reasons[code] ?? fault?.why ?? code }),
  });
}

/** Reasons that concern the folder, the most common cause for a path that cannot be opened. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist",
  EEXIST: "part of its path is a file, not a folder",
  ENOTDIR: "part of its path is a file, not a folder",
};
