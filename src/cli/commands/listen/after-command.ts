import { CatError } from "../../../errors.ts";
import { seeEnded } from "../../../flows/listen/leftover.ts";
import type { WebhookFault } from "../../../flows/listen/registration.ts";
import { faultHint, faultWords } from "../../../flows/listen/watch-webhook.ts";
import { counted } from "../../../flows/words.ts";
import { TimeoutError } from "../../../http/errors.ts";

/** How many events came of those that are awaited. */
export interface Came {
  readonly count: number;
  readonly missing: number;
}

const came = ({ count, missing }: Came): string => `${counted(count - missing, "event")} of ${count} came`;

/** How long a listener waits for its next event once its COMMAND has ended, in milliseconds: an hour. */
export const longestWaitMs = 3_600_000;

/** The error of a listener whose COMMAND has ended, and whose webhook gets none of the awaited events. */
export function cannotCome(fault: WebhookFault, id: string, goal: Came): CatError {
  if (fault !== "gone")
    return new TimeoutError(`webhook ${id} ${faultWords[fault]}; ${came(goal)}`, {
      code: `webhook_${fault}`,
      hint: `${faultHint(fault, id)}. Then run the command again.`,
    });
  return new CatError(`webhook ${id} no longer exists: ${came(goal)}`, {
    type: "not_found",
    code: "webhook_gone",
    hint: `Find out what deleted it, and run the command again. ${seeEnded}`,
  });
}

export const timedOut = (timeoutMs: number, goal: Came | null): TimeoutError =>
  new TimeoutError(
    `listening timed out after ${timeoutMs / 1000} s${goal === null ? "" : `: ${came(goal)}`}`,
    {
      code: "listen_timeout",
      hint: "Use a longer --timeout, or check that the events are sent.",
    },
  );

/** The error of a wait without `--timeout`, after the end of its COMMAND. */
export const nothingCame = (goal: Came): TimeoutError =>
  new TimeoutError(`no event came within an hour after COMMAND ended: ${came(goal)}`, {
    code: "listen_timeout",
    hint: "Check that the events are sent, or use --timeout to wait longer.",
  });

export const nothingLeft = (goal: Came): TimeoutError =>
  new TimeoutError(`nothing is in progress: ${came(goal)}`, {
    code: "nothing_in_progress",
    hint: `Check the events that came instead${goal.count === 1 ? "" : ", or use a smaller --count"}.`,
  });
