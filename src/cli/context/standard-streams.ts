import { fstatSync, writeSync } from "node:fs";
import { ReaderGoneError, StdoutError } from "./errors.ts";

export interface Output {
  readonly isTTY: boolean;
  /** The width of the terminal; 80 without a terminal. */
  readonly columns: number;
  /** The height of the terminal; 24 without a terminal. */
  readonly rows: number;
  /** Resolves when more can be written. Rejects with a ReaderGoneError when the reader closed the pipe. */
  write(text: string | Uint8Array): Promise<void> | void;
  /** The same for a line that is meant as a command of GitHub Actions. */
  writeCommand?(text: string): Promise<void> | void;
  /** The underlying stream, for code that draws on a terminal. */
  readonly raw: NodeJS.WritableStream;
}

/** A stream of Node; null where it throws, as for a terminal that was closed meanwhile. */
function opened<Stream>(stream: () => Stream): Stream | null {
  try {
    return stream();
  } catch {
    return null;
  }
}

const terminalClosed = () => Object.assign(new Error("the terminal was closed"), { code: "EIO" });

/** Stdin of the process; without input if it was a terminal that was closed. */
export function standardInput(host: NodeJS.Process): NodeJS.ReadStream {
  const { Readable } = host.getBuiltinModule("node:stream");
  return opened(() => host.stdin) ?? (Readable.from([]) as unknown as NodeJS.ReadStream);
}

/** Stdout or stderr. A failure to write to stderr is not reported, because it cannot be. */
export function standardOutput(host: NodeJS.Process, name: "stdout" | "stderr"): Output {
  const descriptor = name === "stdout" ? 1 : 2;
  const stream = opened(() => host[name]) ?? closedTerminal(host);
  let broken: Error | null = null;
  let isFileKnown: boolean | undefined;
  const isFile = () => {
    try {
      isFileKnown ??= fstatSync(descriptor).isFile();
    } catch {
      isFileKnown = false;
    }
    return isFileKnown;
  };
  const asOutputError = (error: NodeJS.ErrnoException): Error => {
    // EPIPE (POSIX) and EOF (Windows): the reader closed the pipe. EIO: a terminal was closed.
    const isGone = error.code === "EPIPE" || error.code === "EOF" || (error.code === "EIO" && !isFile());
    return isGone ? new ReaderGoneError() : new StdoutError(error);
  };
  stream.on("error", (error: NodeJS.ErrnoException) => {
    broken ??= asOutputError(error);
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      // A terminal without a size, as some CI jobs have, reports 0 columns.
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        const finish = (error: NodeJS.ErrnoException | null) => {
          if (error === null || name === "stderr") return resolve();
          const told = asOutputError(error);
          // A terminal that is closed sends its signal a moment later: that decides the exit status.
          if (error.code === "EIO") setTimeout(reject, signalMs, told);
          else reject(told);
        };
        if (broken !== null) return name === "stderr" ? resolve() : reject(broken);
        // A device such as /dev/full fails even a write of nothing.
        if (text.length === 0) return resolve();
        if (isFile()) return finish(writeToFile(descriptor, text));
        stream.write(text, (error) => finish(error ?? null));
      }),
    raw: stream,
  };
}

/** How long the SIGHUP of a closed terminal may take, in milliseconds of the machine's time. */
const signalMs = 50;

/** A stream that fails as one to a closed terminal does. */
function closedTerminal(host: NodeJS.Process): NodeJS.WriteStream {
  const { Writable } = host.getBuiltinModule("node:stream");
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(terminalClosed()) });
  return stream as unknown as NodeJS.WriteStream;
}

/** Writes all bytes, or returns the error. Node's stream takes a cut write as complete. */
function writeToFile(descriptor: number, text: string | Uint8Array): NodeJS.ErrnoException | null {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
