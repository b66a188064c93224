import type { AskedOfFile, Generation } from "../../../flows/generate/generation.ts";
import type { InputProblem } from "../../../flows/rows/problem.ts";
import { counted, listFirst } from "../../../flows/words.ts";

const mostNames = 3;

const wearers: Readonly<Record<string, string>> = { female: "women", male: "men" };

/** A note for products for women on men, and one for products for men on women, with their numbers. */
export function mismatchNotes(
  generations: readonly Generation[],
  table: AskedOfFile["table"],
): InputProblem[] {
  const bySex = new Map<string, Generation[]>();
  for (const generation of generations) {
    const sex = generation.sexes?.product;
    if (sex === undefined) continue;
    const some = bySex.get(sex);
    if (some === undefined) bySex.set(sex, [generation]);
    else some.push(generation);
  }
  return Array.from(bySex, ([sex, some]) => {
    const { line, sexes } = some[0]!;
    const names = (named: (one: Generation) => string) => [...new Set(some.map(named))];
    const products = names(({ productReference, productId }) => productReference ?? productId);
    const models = names(({ modelName, modelId }) => modelName ?? modelId!);
    const on = models.length === 1 ? `a ${sexes!.model} model` : `${sexes!.model} models`;
    const are = `${counted(products.length, "product")} for ${wearers[sex]} ${products.length === 1 ? "is" : "are"}`;
    return {
      line,
      ...table?.placeOfField(line, "model_id"),
      param: "model_id",
      code: "sex_mismatch",
      message: `${are} on ${on} (${listFirst(models, mostNames)}): ${listFirst(products, mostNames)}`,
    };
  });
}
