import { type GenerationKind, listAngleShots, listBackgrounds } from "../../../contract/generation-rules.ts";
import { taskSubtypes } from "../../../contract/value-sets.ts";
import { allModels } from "../../../flows/catalogue/lookups.ts";
import { shortBy } from "../../../flows/generate/balance.ts";
import type { CostPlan, SaveFolder } from "../../../flows/generate/generation-run.ts";
import { shownTime } from "../../../flows/run/clocks.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { canAsk, openPrompts } from "../../app/prompts.ts";
import type { Choice, Prompts } from "../../app/terminal-prompts.ts";
import { learnedValues } from "../../completion/learned-values.ts";
import type { LearnedField } from "../../completion/words.ts";
import { UsageError } from "../../context/errors.ts";
import { checkSaveFolder } from "../../files/save-folder.ts";
import type { GenerateFlags, SelectionFlags } from "./flags.ts";

/** Has the user agree to the cost; `--yes` agrees, with a note on what exists. Throws without a terminal. */
export async function confirmCost(
  app: App,
  { plan, file }: { plan: CostPlan; file: string | null },
  pause: () => void,
): Promise<void> {
  const { generations, queuedBefore, balance } = plan;
  const products = new Set(generations.map(({ productId }) => productId)).size;
  const what = counted(generations.length, queuedBefore > 0 ? "more image" : "image");
  const images = `${what} of ${counted(products, "product")}`;
  const short = balance === null ? 0 : shortBy(generations.length, balance);
  const lack = short === 0 ? "" : `: ${grouped(short)} short`;
  const known =
    balance === null ? "balance unknown" : `${grouped(balance.left)} left at ${shownTime(balance.at)}${lack}`;
  const there = existingClause(plan, file);
  if (there !== "" && app.globals.yes) await app.io.note(app.io.visible(`Generating ${images}. ${there}`));
  const action = {
    question: `Generate ${images}? ${there === "" ? "" : `${there} `}Each one costs credits (${known}).`,
    reason: `generating ${images} costs credits`,
    left: "nothing was queued",
    images: generations.length,
    toAgree: "Add --yes to agree, or --dry-run to see the plan.",
  };
  await confirmAction(app, action, pause);
}

/** Existing images of an input: `3 of the 4 in looks.csv exist already.` Empty for none. */
function existingClause({ asked, existing, inProgress }: CostPlan, file: string | null): string {
  const of = `of the ${grouped(asked)}${file === null ? "" : ` in ${shownName(file)}`}`;
  const busy = `${inProgress === 1 ? "is" : "are"} in progress.`;
  if (existing === 0) return inProgress === 0 ? "" : `${grouped(inProgress)} ${of} ${busy}`;
  const exist = `${grouped(existing)} ${of} ${existing === 1 ? "exists" : "exist"} already`;
  return inProgress === 0 ? `${exist}.` : `${exist}, ${grouped(inProgress)} ${busy}`;
}

/** No folder, as a person types it. */
const noFolder = "-";

/** Asks where to save the images, until a folder can be used; null if nobody is asked. */
export async function askSaveFolder(
  app: App,
  { save, wait, file }: GenerateFlags,
  pause: () => void,
): Promise<SaveFolder | null> {
  if (save !== undefined || !wait || file === "-" || app.globals.yes || !canAsk(app)) return null;
  pause();
  const prompts = await openPrompts(app);
  for (;;) {
    const question = `Save the images in (a folder, or ${noFolder} for none)`;
    const typed = (await prompts.input(question, "images", () => true)).trim();
    if (typed === noFolder) return null;
    try {
      return { saveTo: await checkSaveFolder(app, typed), saveAs: typed };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      await app.io.note(app.io.visible(error.message));
    }
  }
}

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
  picked.background ??= [await choose("Background", "background", listBackgrounds(kind))];
  const angles = listAngleShots(kind, picked.subtype?.[0] ?? null);
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
