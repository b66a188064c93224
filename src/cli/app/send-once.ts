import { CatError } from "../../errors.ts";
import { type AcceptedReply, isNothingDone } from "../../flows/service-errors.ts";
import type { OnDoubt } from "../../http/time-limits.ts";
import { withHint } from "../context/errors.ts";

/** Sends a write that is recorded nowhere. If its outcome is unknown, the next step is `check`. */
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

/** Shows the response to a write, also an undocumented one: a secret in it is shown only once. */
export async function showDone<Reply>(
  write: Promise<AcceptedReply<Reply>>,
  show: (reply: Reply) => Promise<void>,
): Promise<void> {
  const { reply, odd } = await write;
  await show(reply);
  if (odd !== undefined) throw odd;
}

/** The error of a write, with `check` as its next step where the service may have carried it out. */
export function unlessDone<Thrown>(error: Thrown, check: string): Thrown | CatError {
  if (!(error instanceof CatError) || isNothingDone(error)) return error;
  return withHint(error, `The service may have done it. ${check}`);
}
