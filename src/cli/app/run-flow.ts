import { limits } from "../../contract/limits.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import type { RunHost } from "../../flows/run/run.ts";
import type { App } from "./app.ts";
import { newRunId } from "./recorded-runs.ts";

/** The host of a flow: for the needs of all runs, and with the terminal to report to. */
export interface CommandHost extends RunHost {
  readonly signal: AbortSignal;
  readonly random: () => number;
  /** Writes per minute that the service allows (Limits); Infinity for the mock of `--mock`. */
  readonly writesPerMinute: number;
  readonly onProgress: (event: ProgressEvent) => void;
  /** Hides the progress until the next update, to make room for a prompt. */
  readonly pause: () => void;
}

/** Runs a flow with its progress. The first interrupt is noted: requests in flight may still end. */
export async function runFlow<Result>(
  app: App,
  flow: (host: CommandHost) => Promise<Result>,
): Promise<Result> {
  const { clock, pid, random, interrupt } = app.context;
  const progress = await app.io.progress();
  const sayStopping = () =>
    void app.io.note(
      "Stopping; requests in flight may still finish. Press Ctrl-C again to stop immediately.",
    );
  interrupt.addEventListener("abort", sayStopping);
  try {
    return await flow({
      clock,
      pid,
      random,
      signal: interrupt,
      newKey: () => crypto.randomUUID(),
      runId: newRunId(clock.now()),
      client: () => app.client(),
      memory: async () => (await import("./profile-state.ts")).memoryOfProfile(app),
      writesPerMinute: app.globals.mock ? Number.POSITIVE_INFINITY : limits.writesPerMinute,
      onProgress: (event) => progress.update(event),
      onNote: (sentence) => void app.io.note(app.io.visible(sentence)),
      pause: () => progress.pause?.(),
      onOpened: (state, runId) => app.runs.opened(state, runId),
    });
  } finally {
    interrupt.removeEventListener("abort", sayStopping);
    progress.end();
  }
}

/** Default number of requests in flight. The rate limit, not this number, bounds a long run. */
export const defaultConcurrency = 4;
