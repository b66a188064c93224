import type { OutputPipe } from "./output-pipe.ts";

/** A file to write: its path, and its name as it is shown to people. */
export interface OutputTarget {
  path: string;
  name: string;
  /** Where the path is a pipe: it, opened before anything was sent. */
  pipe?: OutputPipe | undefined;
  /** Hides secrets in a text of the service, which may repeat the key. */
  mask?: ((text: string) => string) | undefined;
}

/** The files of a run. */
export interface OutputTargets {
  /** For the failed rows; a file that the user did not name is never overwritten. `mode` is that of a new one. */
  failedFile: OutputTarget & { overwrite: boolean; mode?: number };
  resultsFile: OutputTarget | null;
}
