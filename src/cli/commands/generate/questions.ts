import type { GenerateDeps } from "../../../flows/generate/generation-run.ts";
import { shownTime } from "../../../flows/run/clocks.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { profileLabel } from "../../app/profile-label.ts";
import { canAsk, openPrompts } from "../../app/prompts.ts";
import { UsageError } from "../../context/errors.ts";
import type { GenerateFlags } from "./flags.ts";

type Plan = Parameters<GenerateDeps["confirm"]>[0];

/** Has the user agree to the number of images, which cost credits; `--yes` agrees. Throws without a terminal. */
export async function confirmCost(
  app: App,
  { generations, queuedBefore }: Plan,
  pause: () => void,
): Promise<void> {
  if (app.globals.yes) return;
  const images = counted(generations.length, queuedBefore > 0 ? "more image" : "image");
  if (!canAsk(app)) {
    throw new UsageError(`generating ${images} costs credits; nothing was queued`, {
      code: "confirmation_needed",
      param: "--yes",
      hint: "Add --yes to agree, or --dry-run to see the plan.",
    });
  }
  pause();
  const prompts = await openPrompts(app);
  if (await prompts.confirm(`${await profileLabel(app)}Generate ${images}? Each one costs credits.`, false))
    return;
  throw new UsageError("nothing was queued", {
    code: "declined",
    hint: "To generate the images, run the command again and confirm, or add --yes.",
  });
}

/** Asks a person about requests of unknown outcome; undefined without a terminal. */
export const doubtPrompt = (app: App, flags: GenerateFlags, pause: () => void): GenerateDeps["ask"] =>
  canAsk(app) && flags.file !== "-"
    ? async ({ file, sentAt, generations, candidates }) => {
        pause();
        const what = counted(generations, "image");
        await app.io.note(
          app.io.visible(
            `No response for ${what} of ${file} requested at ${shownTime(sentAt)}. The service has ${counted(candidates, "task")} that may be theirs (cat tasks list).`,
          ),
        );
        const prompts = await openPrompts(app);
        return prompts.select(
          "Were they queued?",
          [
            { name: "yes: do not queue them again", value: "queued" as const },
            { name: "no: queue them (paid for again if they were queued)", value: "not-queued" as const },
          ],
          "queued" as const,
        );
      }
    : undefined;
