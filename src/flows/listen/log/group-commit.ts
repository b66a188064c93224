import type { LogFile } from "./log-file.ts";

interface Waiting {
  readonly text: string;
  readonly done: (error: unknown) => void;
}

/**
 * Appends lines to a file in groups: everything that waits goes to disk in one write and one sync, so that many
 * deliveries at once cost as much as one.
 */
export class GroupCommit {
  readonly #file: LogFile;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;

  constructor(file: LogFile) {
    this.#file = file;
  }

  /** Resolves once the line is on disk. Rejects if its group could not be written. */
  add(line: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        text: `${JSON.stringify(line)}\n`,
        done: (error) => (error === null ? resolve() : reject(error)),
      });
      this.#writing ??= this.#write();
    });
  }

  /** Waits for the lines added so far. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const error = await this.#file.append(Buffer.from(group.map(({ text }) => text).join(""))).then(
        () => null,
        (cause: unknown) => cause,
      );
      for (const { done } of group) done(error);
    }
    this.#writing = null;
  }
}
