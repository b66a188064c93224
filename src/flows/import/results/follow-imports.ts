import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import { JobFollower } from "../../run/follow.ts";

/** Receives the progress of followed imports. */
export interface ImportWatcher {
  signal: AbortSignal;
  /** Receives the number of finished rows of all imports, after every response. */
  onProgress: (step: "validating" | "processing", done: number) => void;
  /** Receives an import each time its status changes. */
  onStatus: (job: Import) => void;
}

/** Follows the imports of accepted batches. */
export const importFollower = (
  client: Client,
  { signal, onProgress, onStatus }: ImportWatcher,
): JobFollower<Import> =>
  new JobFollower<Import>({
    poll: (import_id, options) =>
      client.poll(operations.imports.get, { import_id }, { ...options, done: isEnded }),
    signal,
    onStatus,
    onProgress(jobs) {
      let done = 0;
      let checked = false;
      for (const { counts, status } of jobs) {
        done += counts.succeeded + counts.partial + counts.failed;
        checked ||= status !== "validating";
      }
      onProgress(checked ? "processing" : "validating", done);
    },
  });

/** Whether an import has reached a terminal state (States and transitions, Import job). */
export const isEnded = ({ status }: Pick<Import, "status">): boolean =>
  status !== "validating" && status !== "processing";
