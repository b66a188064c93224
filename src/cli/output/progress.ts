import type { ProgressEvent } from "../../flows/progress-event.ts";
import { visible } from "../../text.ts";
import type { Context } from "../context/context.ts";
import {
  doneText,
  leftText,
  PaceMeter,
  type ProgressPlace,
  type ProgressView,
  rateText,
} from "./progress-view.ts";
import { jsonLine } from "./visible.ts";

/** A bar if stderr is a terminal, else or with `lines` a line every ten seconds; nothing if `silent`. */
export async function createProgress(place: ProgressPlace, { lines = false } = {}): Promise<ProgressView> {
  if (place.silent) return { update() {}, end() {} };
  if (place.isJson) return progressJson(place.context);
  if (!lines && place.context.stderr.isTTY && place.context.env.TERM !== "dumb") {
    const { progressBar } = await import("./progress-bar.ts");
    return progressBar(place);
  }
  return progressLines(place.context);
}

const jsonEveryMs = 1000;

/** Progress for programs: a line when a step begins and ends, and at most one per second between. */
function progressJson({ clock, stderr }: Context): ProgressView {
  let latest: ProgressEvent | null = null;
  let written: ProgressEvent | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = () => {
    if (latest === null || latest === written) return;
    const { step, done, total, unit, note } = latest;
    void stderr.write(jsonLine({ progress: { step, done, total, unit, note } }));
    written = latest;
    writtenAt = clock.now();
  };
  return {
    update(event) {
      if (latest !== null && latest.step !== event.step) write();
      const isNew = latest?.step !== event.step;
      latest = event;
      if (isNew || clock.now() - writtenAt >= jsonEveryMs) write();
    },
    end: write,
  };
}

const everyMs = 10_000;

/** Progress without a terminal: a line every ten seconds while work is in progress. */
function progressLines({ clock, stderr }: Context): ProgressView {
  let latest: ProgressEvent | null = null;
  let meter = new PaceMeter();
  let cancel: (() => void) | null = null;
  const tick = () => {
    cancel = clock.at(clock.now() + everyMs, tick);
    if (latest === null) return;
    const pace = meter.measure(latest, clock.now());
    const parts = [doneText(latest), latest.note ?? "", rateText(pace, latest), leftText(pace)];
    void stderr.write(`${visible(`${latest.step}: ${parts.filter((part) => part !== "").join(", ")}`)}\n`);
  };
  return {
    update(event) {
      if (latest?.step !== event.step) meter = new PaceMeter();
      if (latest === null) cancel = clock.at(clock.now() + everyMs, tick);
      latest = event;
      meter.measure(event, clock.now());
    },
    end() {
      cancel?.();
    },
  };
}
