import { angleShotsOf, backgroundsOf, type GenerationKind } from "../../../contract/generation-rules.ts";
import { taskSubtypes } from "../../../contract/value-sets.ts";
import { allModels } from "../../../flows/catalogue/find-models.ts";
import type { App } from "../../app/app.ts";
import { type Choice, openPrompts, type Prompts } from "../../app/prompts.ts";
import { learnedValues } from "../../completion/learned-values.ts";
import type { SelectionFlags } from "./flags.ts";

/** How many products a search shows. */
const shownProducts = 20;

/** Asks the person at the terminal for each value of one image that no flag names. */
export async function pickMissing(
  app: App,
  kind: GenerationKind,
  given: SelectionFlags,
): Promise<SelectionFlags> {
  const prompts = await openPrompts(app);
  const picked: SelectionFlags = { ...given };
  picked.product ??= [await pickProduct(app, prompts)];
  if (kind === "tryon") picked.model ??= [await pickModel(app, prompts)];
  else picked.subtype ??= [await pickOne(prompts, "Subtype", taskSubtypes)];
  picked.background ??= [
    await pickOne(prompts, "Background", [
      ...backgroundsOf(kind),
      ...(await learnedValues(app, `${kind} background`)),
    ]),
  ];
  picked.angle ??= [
    await pickOne(prompts, "Angle", [
      ...angleShotsOf(kind, picked.subtype?.[0] ?? null),
      ...(await learnedValues(app, `${kind} angle_shot`)),
    ]),
  ];
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
