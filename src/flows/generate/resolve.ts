import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { canonicalReference, referenceOfProduct } from "../../contract/import-row.ts";
import { ulidPattern } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/product.ts";
import type { Model } from "../../contract/resources/task.ts";
import { allModels, modelsNamed } from "../catalogue/find-models.ts";
import {
  type FoundProducts,
  meantReferences,
  productsBy,
  unknownProduct,
  withSomeOthers,
} from "../catalogue/find-products.ts";
import type { Problem } from "../rows/problem.ts";
import type { Service } from "../service.ts";
import { splitValues } from "./columns/read-row.ts";
import { type AskedGeneration, contentKey, type Generation } from "./generation.ts";

/** Generations by the IDs of the service, and what is wrong with the others. */
export interface Resolved {
  readonly generations: readonly Generation[];
  /** In the order of the input; a problem of several generations of a line is given once. */
  readonly problems: readonly Problem[];
  /** The first problem of each line that has one. */
  readonly unresolved: ReadonlyMap<number, { code: string; message: string }>;
}

/** Finds the products and models that the input names. References and names must match exactly. */
export async function resolveGenerations(
  asked: readonly AskedGeneration[],
  service: Pick<Service, "client" | "signal" | "concurrency">,
  {
    allowDuplicates,
    onProgress,
  }: { allowDuplicates: boolean; onProgress: (done: number, total: number) => void },
): Promise<Resolved> {
  const ids = new Set<string>();
  const references = new Set<string>();
  const want = (name: string) =>
    ulidPattern.test(name) ? ids.add(name) : references.add(canonicalReference(name));
  for (const { productId, productReference, stylings } of asked) {
    if (productId !== null) ids.add(productId);
    else references.add(canonicalReference(productReference!));
    for (const styling of stylings) want(styling);
  }
  const found = await productsBy({ ids, references }, service, onProgress);
  const areAllFound = found.byId.size + found.byReference.size === ids.size + references.size;
  const products = areAllFound ? found : await withSomeOthers(found, service);
  const models = asked.some(({ model }) => model !== null) ? await allModels(service) : [];
  return judge(asked, { products, models, allowDuplicates });
}

interface Known {
  readonly products: FoundProducts;
  readonly models: readonly Model[];
  readonly allowDuplicates: boolean;
}

function judge(asked: readonly AskedGeneration[], known: Known): Resolved {
  const problems = new Map<string, Problem>();
  const unresolved = new Map<number, { code: string; message: string }>();
  const generations: Generation[] = [];
  const first = new Map<string, number>();
  for (const one of asked) {
    const found: Problem[] = [];
    const add = (param: string, code: string, message: string) =>
      found.push({
        line: one.line,
        reference: one.productReference ?? one.productId ?? undefined,
        param,
        code,
        message,
      });
    const generation = resolveOne(one, known, add);
    if (generation !== null && !known.allowDuplicates) {
      const key = contentKey(generation);
      const before = first.get(key);
      if (before === undefined) first.set(key, one.line);
      else
        found.push({
          line: one.line,
          reference: generation.productReference ?? generation.productId,
          code: "duplicate_input",
          message: `the same image is requested on line ${before}: remove one, or add --allow-duplicates`,
        });
    }
    for (const problem of found) problems.set(`${problem.line} ${problem.param} ${problem.message}`, problem);
    const [reason] = found;
    if (reason === undefined) generations.push(generation!);
    else if (!unresolved.has(one.line))
      unresolved.set(one.line, { code: reason.code, message: reason.message });
  }
  return {
    generations: generations.filter(({ line }) => !unresolved.has(line)),
    problems: [...problems.values()],
    unresolved,
  };
}

type Add = (param: string, code: string, message: string) => void;

/** The generation by IDs; null where something was reported. */
function resolveOne(one: AskedGeneration, { products, models }: Known, add: Add): Generation | null {
  const product = mainProduct(one, products, add);
  const model = one.model === null ? null : findModel(one.model, models, add);
  const stylings = one.stylings.map((name) => ({ name, product: productNamed(name, products) }));
  for (const { name, product } of stylings)
    if (product === null) add("styling_product_ids", "product_not_found", unknownNamed(name, products));
  if (product === null || model === undefined || stylings.some((styling) => styling.product === null))
    return null;
  if (stylings.some((styling) => styling.product!.id === product.id)) {
    add("styling_product_ids", "invalid_row", "styling_product_ids contains the main product: remove it");
    return null;
  }
  const { model: _model, ...look } = one;
  return {
    ...look,
    productId: product.id,
    productReference: referenceOfProduct(product),
    modelId: model?.id ?? null,
    modelName: model?.name ?? null,
    stylings: stylings.map((styling) => styling.product!.id),
  };
}

function mainProduct(one: AskedGeneration, products: FoundProducts, add: Add): Product | null {
  const { productId, productReference } = one;
  if (productId === null) {
    const product = products.byReference.get(canonicalReference(productReference!)) ?? null;
    if (product === null)
      add("product_reference", "product_not_found", unknownNamed(productReference!, products));
    return product;
  }
  const product = products.byId.get(productId) ?? null;
  if (product === null) add("product_id", "product_not_found", unknownNamed(productId, products));
  else if (
    productReference !== null &&
    referenceOfProduct(product) !== canonicalReference(productReference)
  ) {
    const actual = JSON.stringify(product.reference);
    const message = `product ${productId} has the reference ${actual}, not ${JSON.stringify(productReference)}: fix one of them`;
    add("product_reference", "product_mismatch", message);
  }
  return product;
}

const productNamed = (name: string, { byId, byReference }: FoundProducts): Product | null =>
  (ulidPattern.test(name) ? byId.get(name) : byReference.get(canonicalReference(name))) ?? null;

/** `name` may be several values, which only a matrix separates. */
const orMatrix = (name: string, otherwise: string): string =>
  splitValues(name).length > 1 ? ": to generate an image for each value, add --matrix" : otherwise;

const unknownNamed = (name: string, products: FoundProducts): string =>
  unknownProduct(name, meantReferences(name, products), orMatrix(name, " in this organization"));

/** The model; undefined where none, or several, have that name. */
function findModel(name: string, models: readonly Model[], add: Add): Model | undefined {
  const found = modelsNamed(name, models);
  if (found.length === 1) return found[0];
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(", ");
    add(
      "model_id",
      "model_ambiguous",
      `${found.length} models are named ${JSON.stringify(name)}: use an ID (${ids})`,
    );
    return undefined;
  }
  const names = models.flatMap((model) => model.name ?? []);
  const near = questionFor(didYouMean(name, names), ": ", (word) => JSON.stringify(word));
  add(
    "model_id",
    "model_not_found",
    `no model ${JSON.stringify(name)}${near || orMatrix(name, ": cat models list shows all models")}`,
  );
  return undefined;
}
