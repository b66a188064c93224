/** What an error says beside its message, in the words of the service's envelope where there is one. */
export interface ErrorDetail {
  /** For programs: an error type of the service's envelope, or one of ours such as `network`. */
  type: string;
  /** For programs: what exactly. */
  code: string;
  /** What to do about it, one plain sentence. */
  hint?: string | undefined;
  param?: string | undefined;
  /** The HTTP status, when the service answered. */
  status?: number | undefined;
  requestId?: string | undefined;
  /** Whether an earlier attempt of the same request ended without an answer, so that it may have been carried out. */
  earlierUnanswered?: boolean | undefined;
  cause?: unknown;
}

/**
 * The root of every error that is not a bug: its message is one plain sentence for a person, and `type` and
 * `code` are what programs switch on. Which exit status each becomes is one table, in cli/context/exit.ts.
 */
export class CatError extends Error {
  override readonly name: string = "CatError";
  readonly type: string;
  readonly code: string;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly earlierUnanswered: boolean;

  constructor(message: string, detail: ErrorDetail) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.type = detail.type;
    this.code = detail.code;
    this.hint = detail.hint;
    this.param = detail.param;
    this.status = detail.status;
    this.requestId = detail.requestId;
    this.earlierUnanswered = detail.earlierUnanswered ?? false;
  }
}

/** What keeps a file from being read or written, in words. */
export interface FileFault {
  /** `full`: a disk or a quota without room. */
  readonly kind: keyof typeof whatToDo;
  readonly why: string;
  readonly hint: string;
}

const whatToDo = {
  full: "Free some space, or choose a place on another disk, and run the command again.",
  denied: "Check the permissions of the file and its folder.",
  place: "Choose another file.",
  limit: "Close other programs or raise the limit of open files (ulimit -n), and run the command again.",
  disk: "Check the disk, or choose a place on another one.",
} as const;

/** The system's errors that are about a file and no bug of this program, by their code: exit 2 (interface, Exit status). */
const fileFaults: Readonly<Record<string, readonly [kind: keyof typeof whatToDo, why: string]>> = {
  ENOSPC: ["full", "no space left on device"],
  EDQUOT: ["full", "disk quota exceeded"],
  EFBIG: ["full", "the file is too large for its disk"],
  EACCES: ["denied", "permission denied"],
  EPERM: ["denied", "permission denied"],
  EROFS: ["place", "the file system is read-only"],
  ENOENT: ["place", "no such file or folder"],
  ENOTDIR: ["place", "a part of its path is not a folder"],
  EISDIR: ["place", "it is a folder"],
  ELOOP: ["place", "its links lead in a circle"],
  ENAMETOOLONG: ["place", "its name is too long"],
  EEXIST: ["place", "it exists already"],
  ENOTEMPTY: ["place", "the folder is not empty"],
  ENXIO: ["place", "no such device"],
  ENODEV: ["place", "no such device"],
  EBUSY: ["place", "another program is using it"],
  ETXTBSY: ["place", "another program is using it"],
  EMFILE: ["limit", "too many open files"],
  ENFILE: ["limit", "too many open files"],
  EIO: ["disk", "the disk reported an error"],
  ESTALE: ["disk", "the network folder is not reachable"],
};

/** The fault of a file that an error's code tells of; null for any other error. */
export function fileFault(error: unknown): FileFault | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  const [kind, why] = (typeof code === "string" && fileFaults[code]) || [];
  return kind === undefined || why === undefined ? null : { kind, why, hint: whatToDo[kind] };
}

/** Calls to the file system, and what they are for; other ones, as to a network, are about no file. */
const fileCalls: Readonly<Record<string, string>> = {
  ...named("read", "read pread scandir opendir readlink realpath stat lstat fstat access"),
  ...named("open", "open"),
  ...named("write", "write pwrite writev fsync ftruncate mkdir mkdtemp rename link symlink unlink rm rmdir"),
  ...named("write", "copyfile chmod fchmod utime close"),
};

/** What a call to the file system threw as an error of the file, where it is one; anything else as it is. */
export function asFileError(error: unknown): unknown {
  const fault = error instanceof CatError ? null : fileFault(error);
  const { syscall = "", path, code } = (error ?? {}) as NodeJS.ErrnoException;
  const act = fileCalls[syscall];
  if (fault === null || act === undefined) return error;
  const message = `cannot ${act} ${path ?? "a file"}: ${fault.why}`;
  return new CatError(message, { type: "file", code: code!, hint: fault.hint, cause: error });
}

function named(act: string, calls: string): Record<string, string> {
  return Object.fromEntries(calls.split(" ").map((call) => [call, act]));
}
