import type { ProgressEvent } from "../../flows/progress-event.ts";
import type { Context } from "../context/context.ts";
import {
  doneText,
  leftText,
  PaceMeter,
  type ProgressPlace,
  type ProgressView,
  rateText,
} from "./progress-view.ts";
import { visible } from "./visible.ts";

/** A bar if stderr is a terminal, else or with `lines` a line every ten seconds; nothing if `silent`. */
export async function createProgress(place: ProgressPlace, { lines = false } = {}): Promise<ProgressView> {
  if (place.silent) return { update() {}, end() {} };
  if (!lines && place.context.stderr.isTTY && place.context.env.TERM !== "dumb") {
    const { progressBar } = await import("./progress-bar.ts");
    return progressBar(place);
  }
  return progressLines(place.context);
}

const everyMs = 10_000;

/** Progress without a terminal: a line every ten seconds while work is in progress. */
function progressLines({ clock, stderr }: Pick<Context, "clock" | "stderr">): ProgressView {
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
