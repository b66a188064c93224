import type { Clock } from "../../../../clock.ts";

/** How many problems are shown in each second. */
const perSecond = 5;

/**
 * Shows problems as they come, but not a flood of them: the rest are counted, and the number is added to a later one.
 */
export function problemNotes(
  clock: Pick<Clock, "now">,
  show: (message: string, hint: string | undefined) => void,
): (message: string, hint?: string) => void {
  let [since, shown, skipped] = [Number.NEGATIVE_INFINITY, 0, 0];
  return (message, hint) => {
    const now = clock.now();
    if (now - since >= 1_000) [since, shown] = [now, 0];
    if (shown++ >= perSecond) return void skipped++;
    const more = skipped === 0 ? "" : ` (${skipped} more problems were not shown)`;
    skipped = 0;
    show(`${message}${more}`, hint);
  };
}
