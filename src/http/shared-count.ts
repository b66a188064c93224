import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { appendToFile } from "../open-file.ts";

/** A window: its end by the service's clock in Unix seconds, and by the local one in milliseconds. */
interface KnownWindow {
  readonly reset: number;
  /** 0 while unknown. */
  readonly limit: number;
  readonly opensAt: number;
}

/** The length of the record of a response: its window, for processes that have had none. */
const recordBytes = 32;

const minuteMs = 60_000;

/**
 * Counts the requests of all processes of one API key in a rate limit window, without a lock: each appends a
 * byte to the file of the window, whose length is the count. A second file has a record of each response, so
 * that those in flight when the window ends count in the next. Without files, each process counts its own.
 */
export class SharedCount {
  #window: KnownWindow | null = null;
  #before: KnownWindow | null = null;
  /** Records of requests that were withdrawn: the next ones use them. */
  #spare = 0;
  /** Whether files of windows long before this one are removed. */
  #isCleaned = true;

  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {}

  /** The requests that count in the window, also those of the one before that are in flight. */
  get used(): number {
    return this.#sent(this.#window) - this.#spare + this.#inFlight(this.#before);
  }

  /** The window of this time, with its limit if another process knows it. */
  find(now: number): KnownWindow {
    const reset = (Math.floor(now / minuteMs) + 1) * 60;
    const isKnown = ([limit, opensAt]: readonly number[]) =>
      limit! > 0 && opensAt! > now && opensAt! <= now + minuteMs;
    try {
      const records = readFileSync(this.#path(reset, "done-"), "latin1").split("\n");
      const [limit = 0, opensAt = 0] =
        records.map((record) => record.split(" ").map(Number)).findLast(isKnown) ?? [];
      return { reset, limit, opensAt };
    } catch {
      return { reset, limit: 0, opensAt: 0 };
    }
  }

  /** Goes on with a window, to which the own requests in flight move. */
  turn(window: KnownWindow, inFlight: number): void {
    const isSame = window.reset === this.#window?.reset;
    if (!isSame) this.#before = this.#window;
    this.#window = window;
    if (isSame) return;
    this.#spare = 0;
    createFolder(this.folder);
    this.#isCleaned = false;
    // First in the new window, then no longer in the one before: never in none.
    for (let left = inFlight; left > 0; left--) this.#append(this.#window, "");
    for (let left = inFlight; left > 0; left--) this.#append(this.#before, "done-");
  }

  add(): void {
    if (this.#spare > 0) this.#spare--;
    else this.#append(this.#window, "");
    if (!this.#isCleaned && this.#window !== null) removeOlder(this.folder, this.#path(this.#window.reset));
    this.#isCleaned = true;
  }

  withdraw(): void {
    if (this.#window !== null) this.#spare++;
  }

  responded(): void {
    this.#append(this.#window, "done-");
  }

  #path(reset: number, kind: "" | "done-" = ""): string {
    return join(this.folder, `${this.name}-${kind}${reset}`);
  }

  #append(window: KnownWindow | null, kind: "" | "done-"): void {
    if (window === null) return;
    const record = kind === "" ? "." : `${`${window.limit} ${window.opensAt}`.padEnd(recordBytes - 1)}\n`;
    try {
      appendToFile(this.#path(window.reset, kind), record);
    } catch {}
  }

  #size(window: KnownWindow, kind: "" | "done-"): number {
    try {
      return statSync(this.#path(window.reset, kind)).size;
    } catch {
      return 0;
    }
  }

  #sent(window: KnownWindow | null): number {
    return window === null ? 0 : this.#size(window, "");
  }

  #inFlight(window: KnownWindow | null): number {
    return window === null ? 0 : Math.max(0, this.#sent(window) - this.#size(window, "done-") / recordBytes);
  }
}

/** The counts of a key at a service, named by a short digest that does not reveal the key. */
export function countsOf(folder: string, baseUrl: string, apiKey: string) {
  let digest = 0x811c9dc5;
  for (const unit of `${baseUrl} ${apiKey}`) digest = Math.imul(digest ^ unit.codePointAt(0)!, 0x01000193);
  const name = (digest >>> 0).toString(16);
  return {
    reads: new SharedCount(folder, `${name}-reads`),
    writes: new SharedCount(folder, `${name}-writes`),
  };
}

/** Creates the folder in that of an existing state. */
function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {}
}

/** Removes files ten minutes older than this one: names have the clocks of services, which differ. */
function removeOlder(folder: string, path: string): void {
  try {
    const oldest = statSync(path).mtimeMs - 10 * minuteMs;
    for (const name of readdirSync(folder).filter((name) => /-\d+$/.test(name))) {
      const file = lstatSync(join(folder, name), { throwIfNoEntry: false });
      if (file?.isFile() && file.mtimeMs < oldest) rmSync(join(folder, name), { force: true });
    }
  } catch {}
}
