import type { State } from "../../../state/state.ts";

/** Where polling is, for one base URL and one log. */
export interface PollProgress {
  /** When polling began, in Unix milliseconds of the local clock: jobs sent later are reported however they ended. */
  readonly since: number;
  /** The newest task that was listed; all older ones are finished with or open. Null if there was none. */
  readonly newestTask: { readonly id: string; readonly created_at: string } | null;
  /** Tasks whose end has not been reported, or not to every handler. */
  readonly tasks: readonly string[];
  /** The same for imports and exports that were sent before `since`, or that a handler has not accepted. */
  readonly jobs: readonly OpenJob[];
}

export interface OpenJob {
  readonly resource: "import" | "export";
  readonly id: string;
}

/** Stores the progress of polling as a mark, written only when it changed. */
export class StoredProgress {
  readonly #marks: State["marks"];
  readonly #baseUrl: string;
  readonly #name: string;
  #text: string | null;

  constructor(marks: State["marks"], baseUrl: string, logPath: string) {
    [this.#marks, this.#baseUrl, this.#name] = [marks, baseUrl, `poll ${logPath}`];
    this.#text = marks.get(baseUrl, this.#name);
  }

  load(): PollProgress | null {
    return this.#text === null ? null : (JSON.parse(this.#text) as PollProgress);
  }

  save(progress: PollProgress): void {
    const text = JSON.stringify(progress);
    if (text === this.#text) return;
    this.#marks.set(this.#baseUrl, this.#name, text);
    this.#text = text;
  }
}
