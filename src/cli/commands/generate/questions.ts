import { angleShotsOf, backgroundsOf, type GenerationKind } from "../../../contract/generation-rules.ts";
import { taskSubtypes } from "../../../contract/value-sets.ts";
import { allModels } from "../../../flows/catalogue/find-models.ts";
import type { GenerateDeps } from "../../../flows/generate/generation-run.ts";
import { shownTime } from "../../../flows/run/clocks.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { type Choice, canAsk, openPrompts, type Prompts } from "../../app/prompts.ts";
import { learnedValues } from "../../completion/learned-values.ts";
import type { LearnedField } from "../../completion/words.ts";
import type { GenerateFlags, SelectionFlags } from "./flags.ts";

type Plan = Parameters<GenerateDeps["confirm"]>[0];

/** Has the user agree to the number of images, which cost credits; `--yes` agrees. Throws without a terminal. */
export async function confirmCost(
  app: App,
  { generations, queuedBefore }: Plan,
  pause: () => void,
): Promise<void> {
  const images = counted(generations.length, queuedBefore > 0 ? "more image" : "image");
  const action = {
    question: `Generate ${images}? Each one costs credits.`,
    reason: `generating ${images} costs credits`,
    left: "nothing was queued",
    toAgree: "Add --yes to agree, or --dry-run to see the plan.",
  };
  await confirmAction(app, action, pause);
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

/** How many products a search shows. */
const shownProducts = 20;

/** Asks the person at the terminal for each value of one image that no flag names. */
export async function pickMissing(
  app: App,
  kind: GenerationKind,
  given: SelectionFlags,
): Promise<SelectionFlags> {
  const prompts = await openPrompts(app);
  const choose = async (message: string, field: LearnedField, known: readonly string[]) =>
    pickOne(prompts, message, [...known, ...(await learnedValues(app, `${kind} ${field}`))]);
  const picked: SelectionFlags = { ...given };
  picked.product ??= [await pickProduct(app, prompts)];
  if (kind === "tryon") picked.model ??= [await pickModel(app, prompts)];
  else picked.subtype ??= [await pickOne(prompts, "Subtype", taskSubtypes)];
  picked.background ??= [await choose("Background", "background", backgroundsOf(kind))];
  const angles = angleShotsOf(kind, picked.subtype?.[0] ?? null);
  picked.angle ??= [await choose("Angle", "angle_shot", angles)];
  return picked;
}

const pickOne = (prompts: Prompts, message: string, values: readonly string[]): Promise<string> =>
  prompts.select(
    message,
    values.map((value) => ({ name: value, value })),
    values[0]!,
  );

/** By search: a catalogue may have very many products. */
const pickProduct = (app: App, prompts: Prompts): Promise<string> =>
  prompts.search("Product (type to search)", async (term, signal) => {
    const client = await app.client();
    const q = term?.trim();
    const { data } = await client.products.list({ limit: shownProducts, ...(q ? { q } : {}) }, { signal });
    return data.map(({ id, reference, name }): Choice<string> => {
      const label = [reference, name].filter((text) => typeof text === "string" && text !== "").join("  ");
      return { name: app.io.visible(label || id), value: id };
    });
  });

async function pickModel(app: App, prompts: Prompts): Promise<string> {
  const models = await allModels({ client: await app.client(), signal: app.context.interrupt });
  const choices = models.map(({ id, name, sex }) => ({
    name: app.io.visible([name ?? id, sex].filter((text) => text !== null).join("  ")),
    value: id,
  }));
  return prompts.select("Model", choices, choices[0]?.value ?? "");
}
