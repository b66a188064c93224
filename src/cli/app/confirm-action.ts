import { UsageError } from "../context/errors.ts";
import type { App } from "./app.ts";
import { profileLabel } from "./profile-label.ts";
import { canAsk, openPrompts } from "./prompts.ts";

/** An action that cannot be undone, or costs something, for the question and for the error without an answer. */
interface Action {
  /** The question, e.g. `Delete 2 products?` */
  question: string;
  /** What the action concerns, shown above the question. */
  about?: string;
  /** Why it needs a yes, as a clause, e.g. `deleting 2 products needs a confirmation`. */
  reason: string;
  /** What has not happened when the user does not agree, e.g. `nothing was deleted`. */
  left: string;
  /** The next steps: how to agree without a terminal, and after a no. */
  toAgree?: string;
  toRepeat?: string;
}

/**
 * Has the user agree to an action; `--yes` agrees. `pause` makes room for the question. Throws UsageError where the user
 * does not agree, or cannot be asked.
 */
export async function confirmAction(
  app: App,
  { question, about, reason, left, ...hints }: Action,
  pause: () => void = () => {},
): Promise<void> {
  if (app.globals.yes) return;
  const { visible } = app.io;
  if (!canAsk(app)) {
    throw new UsageError(visible(`${reason}; ${left}`), {
      code: "confirmation_needed",
      param: "--yes",
      hint: hints.toAgree ?? "Add --yes to confirm.",
    });
  }
  pause();
  if (about !== undefined) await app.io.line(visible(about));
  const prompts = await openPrompts(app);
  if (await prompts.confirm((await profileLabel(app)) + visible(question), false)) return;
  const hint = hints.toRepeat ?? "To do it, run the command again and confirm.";
  throw new UsageError(left, { code: "declined", hint });
}
