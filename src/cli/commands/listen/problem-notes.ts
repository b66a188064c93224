import type { Clock } from "../../../clock.ts";
import { counted } from "../../../flows/words.ts";

/** How many problems of one reason are shown in each second. */
const perSecond = 5;

/** The reason of a problem, without numbers and the request in parentheses, which the sender chooses. */
const toReason = (message: string): string => message.replace(/\(.*/s, "").replace(/\d+/g, "N");

/**
 * Shows problems as they come, but not a flood of them: the rest are counted, and the number is added to a
 * later one. Each reason has a limit of its own, so that a flood does not hide another problem. `skipped`
 * returns the number that no later problem has reported.
 */
export function problemNotes(
  clock: Pick<Clock, "now">,
  show: (message: string, hint: string | undefined) => void,
): { onProblem(message: string, hint?: string): void; skipped(): number } {
  let [since, skipped] = [Number.NEGATIVE_INFINITY, 0];
  const shown = new Map<string, number>();
  return {
    onProblem(message, hint) {
      const now = clock.now();
      if (now - since >= 1_000) {
        since = now;
        shown.clear();
      }
      const reason = toReason(message);
      const count = (shown.get(reason) ?? 0) + 1;
      shown.set(reason, count);
      if (count > perSecond) return void skipped++;
      const more = skipped === 0 ? "" : ` (${notShown(skipped)})`;
      skipped = 0;
      show(`${message}${more}`, hint);
    },
    skipped: () => skipped,
  };
}

/** `3 more problems were not shown` */
export const notShown = (count: number): string =>
  `${counted(count, "more problem")} ${count === 1 ? "was" : "were"} not shown`;
