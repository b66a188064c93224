import { constants, open } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Clock } from "../../clock.ts";
import { OutputError } from "./output-error.ts";

/** What waits for a pipe's reader, and for how long. */
export interface PipePlace {
  clock: Clock;
  /** Once it is aborted, a reader that takes nothing more is not waited for. */
  signal: AbortSignal;
}

/** A reader that is started together with us may open its end a moment later. */
const readerMs = 2_000;
const lookAgainMs = 50;

/** How long a reader may take nothing more after an interrupt. */
const graceMs = 3_000;

/** Text is gathered to this many characters before it is written. */
const bufferLength = 64 * 1024;

/**
 * A pipe with a name (`mkfifo`, or the `/dev/fd/63` that `>(command)` becomes). Neither to open nor to write it may block:
 * a thread that waits in the system cannot be interrupted, and keeps even a second Ctrl-C from ending the program.
 */
export class OutputPipe {
  readonly #path: string;
  readonly #socket: Socket;
  readonly #place: PipePlace;
  #buffered = "";
  #fault: Error | undefined;

  private constructor(path: string, descriptor: number, place: PipePlace) {
    this.#path = path;
    this.#place = place;
    this.#socket = new Socket({ fd: descriptor, readable: false, writable: true });
    this.#socket.on("error", (error) => {
      this.#fault ??= error;
    });
  }

  /** Opens the pipe; throws an OutputError when nobody reads it, and the signal's reason when it is aborted meanwhile. */
  static async open(path: string, place: PipePlace): Promise<OutputPipe> {
    const { clock, signal } = place;
    for (const until = clock.now() + readerMs; ; ) {
      signal.throwIfAborted();
      try {
        const flags = constants.O_WRONLY | constants.O_NONBLOCK;
        return new OutputPipe(path, await promisify(open)(path, flags), place);
      } catch (error) {
        const cause = error as NodeJS.ErrnoException;
        // Without a reader the system says that there is no such device.
        if (cause.code !== "ENXIO") throw new OutputError(path, cause);
        if (clock.now() >= until) throw new OutputError(path, cause, nobodyReads);
      }
      await clock.sleep(lookAgainMs, signal);
    }
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#buffered.length >= bufferLength) await this.#flush();
  }

  /** Writes bytes that are many already. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.#flush();
    await this.#settled((done) => this.#socket.write(bytes, done));
  }

  /** Ends the pipe once its reader has taken everything. It keeps its name, whose number is 1 (`OutputFile.commit`). */
  async commit(): Promise<number> {
    await this.#flush();
    await this.#settled((done) => this.#socket.end(done));
    return 1;
  }

  async discard(): Promise<void> {
    this.#socket.destroy();
  }

  async #flush(): Promise<void> {
    const text = this.#buffered;
    this.#buffered = "";
    await this.#settled((done) => this.#socket.write(text, done));
  }

  /** Resolves when the work is done; after an interrupt a reader that takes nothing has the time of grace. */
  #settled(work: (done: (error?: Error | null) => void) => void): Promise<void> {
    const { clock, signal } = this.#place;
    return new Promise((resolve, reject) => {
      let cancel = () => {};
      const done = (error?: Error | null) => {
        signal.removeEventListener("abort", onAbort);
        cancel();
        const fault = this.#fault ?? error;
        if (!fault) return resolve();
        this.#socket.destroy();
        reject(new OutputError(this.#path, fault, isGone(fault) ? readerGone : undefined));
      };
      const onAbort = () => {
        cancel = clock.at(clock.now() + graceMs, () =>
          done(new Error("nothing more is taken by its reader")),
        );
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      work(done);
    });
  }
}

const nobodyReads = {
  what: "is a pipe that nobody reads",
  code: "no_reader",
  hint: "Start the program that reads it first, or name a file.",
};

const readerGone = {
  what: "was left by its reader before everything was written",
  code: "reader_gone",
  hint: "Name a file, or look at the program that reads it.",
};

const isGone = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE";
