import cliProgress from "cli-progress";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import {
  doneText,
  leftText,
  type Pace,
  PaceMeter,
  type ProgressPlace,
  type ProgressView,
  rateText,
} from "./progress-view.ts";

/** Progress on a terminal: one live line, which each step replaces, and which is removed at the end. */
export function progressBar({ context, paint, visible }: ProgressPlace): ProgressView {
  let bar: cliProgress.SingleBar | null = null;
  let latest: ProgressEvent | null = null;
  let meter = new PaceMeter();
  let ended = false;
  /** Whether stdout, on the same terminal, is in the middle of a line. */
  let isLineOpen = false;

  // Called at a fixed rate, also without new events.
  const line = (maxWidth: number) => {
    const width = maxWidth || context.stderr.columns;
    const pace = meter.measure(latest!, context.clock.now());
    return barLine(latest!, pace, { width, paint: paint.cyan, visible });
  };
  const erase = () => {
    bar?.stop();
    bar = null;
  };
  const end = () => {
    ended = true;
    erase();
    context.interrupt.removeEventListener("abort", end);
  };
  // Ctrl-C must show the cursor again, even if the awaited work never ends.
  context.interrupt.addEventListener("abort", end, { once: true });

  return {
    update(event) {
      if (ended || context.interrupt.aborted) return;
      if (latest?.step !== event.step) meter = new PaceMeter();
      latest = event;
      meter.measure(event, context.clock.now());
      if (isLineOpen) return;
      if (bar === null) bar = startBar(context.stderr, line);
      else bar.update(event.done);
    },
    above(text) {
      if (bar === null) return false;
      // The bar turned wrapping off, and returns to the saved cursor at its end: save the new position.
      context.stderr.raw.write(`\r\x1b[K\x1b[?7h${text}\n\x1b[?7l\x1b7`);
      return true;
    },
    makeRoom(endsLine) {
      erase();
      isLineOpen = !endsLine;
    },
    pause() {
      erase();
      latest = null;
    },
    end,
  };
}

function startBar({ raw }: ProgressPlace["context"]["stderr"], line: (maxWidth: number) => string) {
  const bar = new cliProgress.SingleBar({
    stream: raw as NodeJS.WriteStream,
    hideCursor: true,
    clearOnComplete: true,
    // The context handles signals: the bar ends at an interrupt.
    gracefulExit: false,
    // A line above overwrites the bar, and an unchanged bar would not be redrawn.
    forceRedraw: true,
    format: (_options, { maxWidth }) => line(maxWidth ?? 0),
  });
  bar.start(1, 0);
  return bar;
}

const widestBar = 30;
const narrowestBar = 8;

/** The line of a step, e.g. `processing  ██████░░░░  1,200 of 2,000  60%  120/s  7 s left`. */
export function barLine(
  event: ProgressEvent,
  pace: Pace,
  { width, paint, visible }: { width: number; paint(text: string): string; visible(text: string): string },
): string {
  const share =
    event.total === null ? null : event.total === 0 ? 1 : Math.min(1, Math.max(0, event.done / event.total));
  const step = visible(event.step);
  const percent = share === null ? "" : `${Math.floor(share * 100)}%`;
  const parts = [doneText(event), percent, rateText(pace, event), leftText(pace), visible(event.note ?? "")];
  const joined = () => `  ${parts.filter((part) => part !== "").join("  ")}`;
  // A line that fills the last column wraps on some terminals.
  const room = width - 1;
  // A number that is cut would be taken for another one.
  for (let part = 1; part < parts.length && step.length + joined().length > room; part++) parts[part] = "";
  const rest = joined();
  const barWidth = Math.min(widestBar, room - step.length - rest.length - 2);
  if (share === null || barWidth < narrowestBar) return `${step}${rest}`.slice(0, room);
  const full = Math.floor(share * barWidth);
  return `${step}  ${paint("█".repeat(full))}${"░".repeat(barWidth - full)}${rest}`;
}
