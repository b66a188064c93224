import { UsageError } from "../context/errors.ts";
import type { App } from "./app.ts";
import { profileLabel } from "./profile-label.ts";
import { canAsk, openPrompts } from "./prompts.ts";

/** An action that cannot be undone, for the question and for the error without an answer. */
interface Action {
  /** The question, e.g. `Delete 2 products?` */
  question: string;
  /** What the action concerns, shown above the question. */
  about?: string;
  /** The action as a phrase that needs a `yes`, e.g. `deleting 2 products`. */
  doing: string;
  /** What has not happened when the user does not agree, e.g. `nothing was deleted`. */
  left: string;
}

/**
 * Has the user agree to an action that cannot be undone; `--yes` agrees. Throws UsageError where the user does not,
 * or cannot be asked.
 */
export async function confirmAction(app: App, { question, about, doing, left }: Action): Promise<void> {
  if (app.globals.yes) return;
  const { visible } = app.io;
  if (!canAsk(app)) {
    throw new UsageError(visible(`${doing} needs a confirmation; ${left}`), {
      code: "confirmation_needed",
      param: "--yes",
      hint: "Add --yes to confirm.",
    });
  }
  if (about !== undefined) await app.io.line(visible(about));
  if (await (await openPrompts(app)).confirm((await profileLabel(app)) + visible(question), false)) return;
  throw new UsageError(left, { code: "declined", hint: "To do it, run the command again and confirm." });
}
