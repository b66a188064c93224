import { CatError } from "../../errors.ts";
import { type AcceptedReply, isNothingDone } from "../../flows/service-errors.ts";
import type { OnDoubt } from "../../http/time-limits.ts";
import { withHint } from "../context/errors.ts";

/**
 * Sends a write that the same command would carry out a second time, because it keeps no record of it. If its
 * outcome is unknown, the error says so, with `check` as its next step.
 */
export async function sendOnce<T>(
  send: (options: { readonly onDoubt: OnDoubt }) => Promise<T>,
  check: string,
): Promise<T> {
  let isInDoubt = false;
  const onDoubt: OnDoubt = (inDoubt) => {
    isInDoubt = inDoubt;
  };
  try {
    return await send({ onDoubt });
  } catch (error) {
    throw isInDoubt ? unlessDone(error, check) : error;
  }
}

/**
 * Shows the response to a write, then throws its error if it is not as documented: an ID or a secret in it
 * may be in no other response.
 */
export async function showDone<Reply>(
  write: Promise<AcceptedReply<Reply>>,
  show: (reply: Reply) => Promise<void>,
): Promise<void> {
  const { reply, odd } = await write;
  await show(reply);
  if (odd !== undefined) throw odd;
}

/**
 * The error of a write that was sent: if the service may have done it, with `check` as its next step; the
 * error itself where the service has rejected it.
 */
export function unlessDone<Thrown>(error: Thrown, check: string): Thrown | CatError {
  if (!(error instanceof CatError) || isNothingDone(error)) return error;
  return withHint(error, `The service may have done it. ${check}`);
}
