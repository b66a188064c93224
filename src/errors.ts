/** The details of an error, in the terms of the service's error envelope where it has one. */
export interface ErrorDetail {
  /** For programs: an error type of the service's envelope, or one of the CLI's own, such as `network`. */
  type: string;
  /** For programs: the specific error. */
  code: string;
  /** The next step for the user, in one sentence. */
  hint?: string | undefined;
  param?: string | undefined;
  /** The HTTP status, if the service responded. */
  status?: number | undefined;
  requestId?: string | undefined;
  /** Whether an earlier attempt of the same request got no response and may have been carried out. */
  earlierUnanswered?: boolean | undefined;
  cause?: unknown;
}

/** The kind of error: types of the service (Errors), then of the client. The CLI has more. */
export type KnownErrorType =
  | "invalid_request"
  | "not_found"
  | "unauthorized"
  | "forbidden"
  | "payment_required"
  | "conflict"
  | "rate_limited"
  | "internal"
  | "not_implemented"
  | "network"
  | "timeout"
  | "bad_response"
  | "signed_url"
  | "invalid_signature"
  | "usage"
  | "file"
  | "aborted";

/**
 * The names of an error's classes. A registered symbol: a program may have an error of one copy of the
 * package (ES module, CommonJS, `/mock`, `/webhooks`) and the class of another one.
 */
const classNames = Symbol.for("@catalogue-imaging/catalogue.classes");

/**
 * The root of every error that is not a bug: the message is a sentence for the user; programs switch on
 * `type` and `code`. The table of exit statuses is in cli/context/errors.ts.
 */
export class CatalogueError extends Error {
  /** The name of the class, for `instanceof`: bundlers may rename the class itself. */
  static readonly className: string = "CatalogueError";
  /** The name of the class. */
  override readonly name: string = "CatalogueError";
  /** The kind of error: switch on it for behavior. */
  readonly type: KnownErrorType | (string & {});
  /** The specific error: switch on it for messages. */
  readonly code: string;
  /** The next step, in one sentence. */
  readonly hint: string | undefined;
  /** The field of the request with the problem, for example `inputs.product_id`. */
  readonly param: string | undefined;
  /** The HTTP status, if the service responded. */
  readonly status: number | undefined;
  /** The `X-Request-Id` of the response, or of the request without one. */
  readonly requestId: string | undefined;
  /** Whether an earlier attempt of the same request got no response and may have been carried out. */
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

  /** The names of its class and of those that this one extends. */
  get [classNames](): readonly string[] {
    const names: string[] = [];
    for (let one: unknown = this.constructor; typeof one === "function"; one = Object.getPrototypeOf(one))
      if (Object.hasOwn(one, "className")) names.push((one as typeof CatalogueError).className);
    return names;
  }

  /** Whether a value is an error of this class, of whichever copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked for, which may extend this one
    return hasClass(value, this);
  }
}

function hasClass(value: unknown, one: typeof CatalogueError): boolean {
  if (Function.prototype[Symbol.hasInstance].call(one, value)) return true;
  const names = (value as { [classNames]?: unknown } | null | undefined)?.[classNames];
  // A class of the user's own has no name among ours.
  return Object.hasOwn(one, "className") && Array.isArray(names) && names.includes(one.className);
}

/** The name of the class within the program. */
export { CatalogueError as CatError };

/** A reason why a file cannot be read or written. */
export interface FileProblem {
  /** `full`: a disk or quota without space. */
  readonly kind: keyof typeof whatToDo;
  readonly why: string;
  readonly hint: string;
}

const whatToDo = {
  full: "Free some space or choose another disk, and run the command again.",
  denied: "Check the permissions of the file and its folder.",
  place: "Choose another file.",
  busy: "Close it there (such as in Excel), and run the command again.",
  limit: "Close other programs or raise the limit of open files (ulimit -n), and run the command again.",
  memory: "Close other programs, and run the command again.",
  disk: "Check the disk, or choose another one.",
} as const;

/** System errors that concern a file rather than a bug, by code: exit 2. */
export const fileProblems: Readonly<Record<string, readonly [kind: keyof typeof whatToDo, why: string]>> = {
  ENOSPC: ["full", "no space left on device"],
  EDQUOT: ["full", "disk quota exceeded"],
  EFBIG: ["full", "the file is too large for its disk"],
  EACCES: ["denied", "permission denied"],
  EPERM: ["denied", "permission denied"],
  EROFS: ["place", "the file system is read-only"],
  ENOENT: ["place", "no such file or folder"],
  ENOTDIR: ["place", "part of its path is not a folder"],
  EISDIR: ["place", "it is a folder"],
  ELOOP: ["place", "too many symbolic links"],
  // Of this program.
  ELINKOWNER: ["place", "another user has it, or has made a link there"],
  ENAMETOOLONG: ["place", "its name is too long"],
  EEXIST: ["place", "it already exists"],
  ENOTEMPTY: ["place", "the folder is not empty"],
  ENXIO: ["place", "no such device"],
  ENODEV: ["place", "no such device"],
  // On Windows, most programs deny others the files that they have open.
  EBUSY: ["busy", "another program is using it"],
  ETXTBSY: ["busy", "another program is using it"],
  EMFILE: ["limit", "too many open files"],
  ENFILE: ["limit", "too many open files"],
  ENOMEM: ["memory", "the system has no memory left"],
  EIO: ["disk", "the disk reported an error"],
  ESTALE: ["disk", "the network drive is not reachable"],
};

/** The file problem behind an error, by its code; null for any other error. */
export function fileProblem(error: unknown): FileProblem | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  const [kind, why] = (typeof code === "string" && fileProblems[code]) || [];
  return kind === undefined || why === undefined ? null : { kind, why, hint: whatToDo[kind] };
}

/** The error of a system that cannot open one more file, also as a cause; null for any other. */
export function outOfFiles(error: unknown, name: string): CatalogueError | null {
  const fault = fileProblem(error);
  if (fault === null || (fault.kind !== "limit" && fault.kind !== "memory"))
    return error instanceof CatalogueError && error.cause !== undefined
      ? outOfFiles(error.cause, name)
      : null;
  const { code } = error as { code: string };
  return new CatalogueError(`cannot open ${name}: ${fault.why}`, {
    type: "file",
    code,
    hint: fault.hint,
    cause: error,
  });
}

/** File system calls and the verb for each; network calls are not listed. */
const fileCalls = {
  read: /^(p?read|scandir|opendir|readlink|realpath|[lf]?stat|access|uv_cwd)$/,
  open: /^open$/,
  write:
    /^(p?write|writev|fsync|ftruncate|mkdir|mkdtemp|rename|(sym|un)?link|rm|rmdir|copyfile|f?chmod|utime|close)$/,
};

/** A CatalogueError of a file system call; other errors unchanged. `name`: the file, if it has none. */
export function asFileError(error: unknown, name = "a file"): unknown {
  const fault = error instanceof CatalogueError ? null : fileProblem(error);
  const { syscall = "", path, code } = (error ?? {}) as NodeJS.ErrnoException;
  const [act] = Object.entries(fileCalls).find(([, calls]) => calls.test(syscall)) ?? [];
  if (fault === null || act === undefined) {
    const isCall = syscall !== "" && !(error instanceof CatalogueError);
    return (
      (isCall ? outOfFiles(error, syscall === "connect" ? "a connection" : (path ?? name)) : null) ?? error
    );
  }
  const isHere = syscall === "uv_cwd";
  const message = `cannot ${act} ${path ?? (isHere ? "the current folder" : name)}: ${fault.why}`;
  const hint = isHere ? "Go to a folder that exists, and run the command again." : fault.hint;
  return new CatalogueError(message, { type: "file", code: code!, hint, cause: error });
}
