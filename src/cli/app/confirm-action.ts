import { parseUrl } from "../../contract/url-policy.ts";
import { CatError } from "../../errors.ts";
import { DeclinedError, UsageError } from "../context/errors.ts";
import { baseUrlInUse, profileInUse } from "../settings/settings.ts";
import type { App } from "./app.ts";
import { canAsk, openPrompts } from "./prompts.ts";

/** An action that costs something or cannot be undone, for the question and its error. */
interface Action {
  /** The question, e.g. `Delete 2 products?` */
  question: string;
  /** The objects of the action, shown above the question. */
  about?: string;
  /** Why it needs a yes, as a clause, e.g. `deleting 2 products needs a confirmation`. */
  reason: string;
  /** The work not done if the user does not agree, e.g. `nothing was deleted`. */
  left: string;
  /** The number of images that it generates, if any. */
  images?: number;
  /** How to agree without a terminal. */
  toAgree?: string;
}

/** Has the user agree, as `--yes` does. Throws DeclinedError, or UsageError where it cannot ask. */
export async function confirmAction(
  app: App,
  { question, about, reason, left, images = 0, toAgree = "Add --yes to confirm." }: Action,
  pause: () => void = () => {},
): Promise<void> {
  if (app.globals.yes) return;
  const { visible } = app.io;
  const labeled = async () => (await profileLabel(app)) + visible(question);
  const { confirm } = app.context;
  if (confirm !== undefined) {
    const asked = { question: await labeled(), about: about && visible(about), images };
    if (await confirm(asked)) return;
    throw new DeclinedError(left);
  }
  if (!canAsk(app)) {
    throw new UsageError(visible(`${reason}; ${left}`), {
      code: "confirmation_needed",
      param: "--yes",
      hint: toAgree,
    });
  }
  pause();
  if (about !== undefined) await app.io.line(visible(about));
  const prompts = await openPrompts(app);
  if (await prompts.confirm(await labeled(), false)) return;
  throw new DeclinedError(left);
}

export const labelColors = ["red", "green", "yellow", "cyan"] as const;

/**
 * The label of the profile in use for the start of a line on stderr, e.g. `[production] `, in its color;
 * empty without one. With another address than the profile's own it would mislead, and is not shown. Settings
 * that cannot be read have none: they must not hide a summary.
 */
async function profileLabel(app: App): Promise<string> {
  if (app.globals.mock) return "";
  try {
    return await labelInUse(app);
  } catch (error) {
    if (error instanceof CatError) return "";
    throw error;
  }
}

/** Prints a summary for people: the label of the profile is before the first line. */
export async function noteSummary(app: App, lines: readonly string[]): Promise<void> {
  const label = await profileLabel(app);
  for (const [index, line] of lines.entries())
    await app.io.note((index === 0 ? label : "") + app.io.visible(line));
}

async function labelInUse({ globals, context, io }: App): Promise<string> {
  const { label, color, baseUrl } = (await profileInUse(globals, context)).settings ?? {};
  const inUse = await baseUrlInUse(globals, context);
  if (typeof label !== "string" || label === "" || typeof baseUrl !== "string" || inUse === null) return "";
  if (parseUrl(baseUrl)?.origin !== new URL(inUse).origin) return "";
  const shown = `[${io.visible(label)}]`;
  const painted = labelColors.find((name) => name === color);
  return `${painted === undefined ? shown : io.paintNote[painted](shown)} `;
}
