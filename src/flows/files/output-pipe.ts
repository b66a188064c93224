import { constants, open } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Clock } from "../../clock.ts";
import { OutputError } from "./output-error.ts";

/** Limits how long the writer waits for the reader of a pipe. */
export interface PipePlace {
  clock: Clock;
  /** After an abort, a reader that stops reading is not waited for. */
  signal: AbortSignal;
}

/** A reader started at the same time may open its end a moment later. */
const readerMs = 2_000;
const lookAgainMs = 50;

/** The time a reader may pause after an interrupt. */
const graceMs = 3_000;

/** Characters buffered before they are written. */
const bufferLength = 64 * 1024;

/**
 * A named pipe (`mkfifo`, or the `/dev/fd/63` of `>(command)`). Opening and writing must not block: a thread
 * blocked in the system cannot be interrupted, and would keep even a second Ctrl-C from ending the program.
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

  /** Opens the pipe. Throws an OutputError without a reader, and the signal's reason if it is aborted meanwhile. */
  static async open(path: string, place: PipePlace): Promise<OutputPipe> {
    const { clock, signal } = place;
    for (const until = clock.now() + readerMs; ; ) {
      signal.throwIfAborted();
      try {
        const flags = constants.O_WRONLY | constants.O_NONBLOCK;
        return new OutputPipe(path, await promisify(open)(path, flags), place);
      } catch (error) {
        const cause = error as NodeJS.ErrnoException;
        // Without a reader the system reports a missing device.
        if (cause.code !== "ENXIO") throw new OutputError(path, cause);
        if (clock.now() >= until) throw new OutputError(path, cause, noReader);
      }
      await clock.sleep(lookAgainMs, signal);
    }
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#buffered.length >= bufferLength) await this.#flush();
  }

  /** Writes bytes that are buffered already. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.#flush();
    await this.#settled((done) => this.#socket.write(bytes, done));
  }

  /** Ends the pipe once its reader has taken everything. The number of its name is always 1 (`OutputFile.commit`). */
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

  /** Resolves when the work is done; after an interrupt a reader that stops reading gets a grace period. */
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
        cancel = clock.at(clock.now() + graceMs, () => done(new Error("its reader stopped reading")));
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      work(done);
    });
  }
}

const noReader = {
  what: "is a pipe without a reader",
  code: "no_reader",
  hint: "Start the reading program first, or choose a file.",
};

const readerGone = {
  what: "was closed by its reader before everything was written",
  code: "reader_gone",
  hint: "Check the program that reads the pipe, or choose a file.",
};

const isGone = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE";
