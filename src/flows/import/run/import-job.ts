import type { ProgressEvent } from "../../progress-event.ts";
import type { Service } from "../../service.ts";
import type { DoubtQuestion, ImportInput, UnknownChoice } from "./import-input.ts";

/** Where an import reports what it does. */
export interface Reporter {
  readonly onProgress: (event: ProgressEvent) => void;
  /** A sentence for people on what is going to be done. */
  readonly onNote: (sentence: string) => void;
}

/** How the user decides about batches of unknown outcome. */
export interface Doubts {
  /** What `--unknown` says; undefined from the second time on: it answers the one question that was shown before. */
  readonly choice: () => UnknownChoice | undefined;
  /** Asks a person; undefined where there is none to ask. */
  readonly ask: ((question: DoubtQuestion) => Promise<UnknownChoice>) | undefined;
}

/** An import whose file passed the check: what every stage from then on may need. */
export interface ImportJob {
  readonly input: ImportInput;
  readonly service: Service;
  readonly reporter: Reporter;
  readonly doubts: Doubts;
  /** The number of this process, to be found by others. */
  readonly pid: number;
}
