import type { ProgressEvent } from "../../flows/progress-event.ts";
import type { App } from "./app.ts";

/** What a flow reports to. */
export interface FlowView {
  onProgress: (event: ProgressEvent) => void;
  /** A message for users. */
  onNote: (sentence: string) => void;
  /** Hides the progress until the next update, to make room for a prompt. */
  pause: () => void;
}

/**
 * Runs a flow with its progress on the screen. At the first interrupt it notes that requests in flight may
 * still end.
 */
export async function runFlow<Result>(app: App, flow: (view: FlowView) => Promise<Result>): Promise<Result> {
  const { interrupt } = app.context;
  const progress = await app.io.progress();
  const sayStopping = () =>
    void app.io.note(
      "Stopping; requests in flight may still finish. Press Ctrl-C again to stop immediately.",
    );
  interrupt.addEventListener("abort", sayStopping);
  try {
    return await flow({
      onProgress: (event) => progress.update(event),
      onNote: (sentence) => void app.io.note(app.io.visible(sentence)),
      pause: () => progress.pause?.(),
    });
  } finally {
    interrupt.removeEventListener("abort", sayStopping);
    progress.end();
  }
}

/** A run's ID: it sorts by time, and is never used twice. */
export const newRunId = (now: number, uuid: string): string => `run_${now.toString(36)}${uuid.slice(0, 8)}`;

/** Default number of requests in flight. The rate limit, not this number, bounds a long run. */
export const defaultConcurrency = 4;
