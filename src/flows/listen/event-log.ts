import { asFileError, CatError } from "../../errors.ts";
import { lockTemporaryFile } from "../../state/file-lock.ts";
import { type LogFile, openLogFile, ShownMark, sidePaths } from "./log-file.ts";
import {
  type EventLine,
  isAccepted,
  isResult,
  type ResultLine,
  readLog,
  UnacceptedEvents,
} from "./log-lines.ts";

/** Appends lines in groups: all that wait get one write and one sync, so many at once cost as much as one. */
class GroupCommit {
  #waiting: { readonly text: string; readonly done: (error: unknown) => void }[] = [];
  #writing: Promise<void> | null = null;

  constructor(private readonly file: LogFile) {}

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

  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const error = await this.file.append(Buffer.from(group.map(({ text }) => text).join(""))).then(
        () => null,
        (cause: unknown) => cause,
      );
      for (const { done } of group) done(error);
    }
    this.#writing = null;
  }
}

const none: readonly string[] = [];

/** An event of the log, and how many events the log has up to it. */
export interface LoggedEvent {
  readonly line: EventLine;
  readonly place: number;
}

/**
 * The append-only log of received events: it decides which events are known, which were shown, and which
 * handlers have accepted them. In memory it keeps only the IDs and these URLs.
 */
export class EventLog {
  readonly #commit: GroupCommit;
  /** The URLs that accepted each event, by its ID. */
  readonly #known = new Map<string, readonly string[]>();
  #events = 0;
  #unshown: LoggedEvent[] = [];
  #mark: ShownMark | null = null;
  #unaccepted = new UnacceptedEvents();

  private constructor(
    private readonly file: LogFile,
    private readonly unlock: () => void,
    /** Whether the log was created when it was opened. */
    readonly isNew: boolean,
  ) {
    this.#commit = new GroupCommit(file);
  }

  /**
   * Opens the log at an absolute path for this process alone, and reads its IDs. Throws a CatError of type
   * `file`, or of type `conflict` if another process has it, also by another name.
   */
  static async open(path: string, openFile = openLogFile): Promise<EventLog> {
    // Before the log is created.
    sidePaths(path);
    const file = await openFile(path);
    let unlock: (() => void) | null = null;
    try {
      const side = sidePaths(path);
      unlock = await lockTemporaryFile(side.lock);
      if (unlock === null) throw inUse(path);
      const log = new EventLog(file, unlock, file.isNew);
      const shown = ShownMark.left(side.mark) ?? Number.POSITIVE_INFINITY;
      if (!file.isNew) for await (const line of readLog(path)) log.#read(line, shown);
      log.#mark = new ShownMark(side.mark, Math.min(shown, log.#events));
      return log;
    } catch (error) {
      await file.close();
      unlock?.();
      throw asFileError(error);
    }
  }

  /** Whether the event is on disk. */
  isKnown(id: string): boolean {
    return this.#known.has(id);
  }

  acceptedBy(id: string): readonly string[] {
    return this.#known.get(id) ?? none;
  }

  /** Resolves once the event is on disk, to its place. Throws a CatError if it cannot be written. */
  async append(line: EventLine): Promise<number> {
    await this.#commit.add(line);
    this.#remember(line);
    // Lines are settled in their order in the file.
    return ++this.#events;
  }

  /** The events that a killed process has logged but not shown. Each call has new ones. */
  takeUnshown(): readonly LoggedEvent[] {
    const events = this.#unshown;
    this.#unshown = [];
    return events;
  }

  /** The events that a handler had not accepted when the log was opened. Each call has new ones. */
  takeUnaccepted(): UnacceptedEvents {
    const events = this.#unaccepted;
    this.#unaccepted = new UnacceptedEvents();
    return events;
  }

  /** Records that the events up to this place are shown now: after a kill they are not shown again. */
  markShown(place: number): void {
    this.#mark?.set(place);
  }

  /** Records a handler's response. It counts even if this write fails, because the handler has the event. */
  async record(line: ResultLine): Promise<void> {
    this.#remember(line);
    await this.#commit.add(line);
  }

  async close(): Promise<void> {
    await this.#commit.settled();
    this.#mark?.close(this.#events);
    await this.file.close();
    this.unlock();
  }

  /** A line of a log from earlier, of whose events so many were shown. */
  #read(line: EventLine | ResultLine, shown: number): void {
    const isRepeated = !isResult(line) && this.#known.has(line.id);
    this.#remember(line);
    if (isResult(line)) {
      this.#unaccepted.addResult(line);
      return;
    }
    this.#events++;
    if (isRepeated) return;
    this.#unaccepted.add(line);
    if (this.#events > shown) this.#unshown.push({ line, place: this.#events });
  }

  #remember(line: EventLine | ResultLine): void {
    if (!isResult(line)) {
      if (!this.#known.has(line.id)) this.#known.set(line.id, none);
      return;
    }
    const before = this.#known.get(line.result_of) ?? none;
    if (isAccepted(line) && !before.includes(line.url))
      this.#known.set(line.result_of, [...before, line.url]);
  }
}

const inUse = (path: string): CatError =>
  new CatError(`another process is listening with the log ${path}`, {
    type: "conflict",
    code: "log_in_use",
    hint: "Stop it, or use another log with --log FILE.",
  });
