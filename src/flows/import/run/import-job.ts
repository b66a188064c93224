import type { ProgressEvent } from "../../progress-event.ts";
import type { Service } from "../../service.ts";
import type { ImportDeps, ImportInput, UnknownChoice } from "./import-input.ts";

/** Receives the progress and notes of an import. */
export interface Reporter {
  readonly onProgress: (event: ProgressEvent) => void;
  /** Receives a note for the user about the next steps. */
  readonly onNote: (sentence: string) => void;
}

/** The user's decision about batches with an unknown outcome. */
export interface OutcomeDecider {
  /**
   * The value of `--unknown` on the first call, then undefined: it answers only the question shown before.
   */
  readonly choice: () => UnknownChoice | undefined;
  /** Prompts the user; undefined without a terminal. */
  readonly ask: ImportDeps["ask"];
}

/** An import whose file passed the check, with everything that the later stages share. */
export interface ImportJob {
  readonly input: ImportInput;
  readonly service: Service;
  readonly reporter: Reporter;
  readonly decider: OutcomeDecider;
  /** The ID of this process, shown to other processes that find its run. */
  readonly pid: number;
}
