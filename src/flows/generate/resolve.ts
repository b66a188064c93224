import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { ulidPattern } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import {
  allModels,
  type FoundProducts,
  modelsNamed,
  namedReferences,
  productOf,
  productsBy,
  referenceProposals,
  unknownProduct,
  withSomeOthers,
} from "../catalogue/lookups.ts";
import type { InputProblem } from "../rows/problem.ts";
import { placeOfUse } from "../rows/row-sets.ts";
import type { BulkReader } from "../service.ts";
import { splitValues } from "./columns/read-row.ts";
import { type AskedGeneration, type AskedOfFile, contentKey, type Generation } from "./generation.ts";
import type { Rejection } from "./generation-run.ts";

/** Generations by the IDs of the service, and what is wrong with the others. */
export interface ResolvedGenerations {
  readonly generations: readonly Generation[];
  /** In the order of the input; a problem of several generations of a line is given once. */
  readonly problems: readonly InputProblem[];
  /** The first problem of each line that has one. */
  readonly unresolved: ReadonlyMap<number, Rejection>;
}

/** Finds the products and models that the input names. References must match exactly. */
export async function resolveGenerations(
  asked: readonly AskedGeneration[],
  service: BulkReader,
  {
    allowDuplicates,
    table,
    onProgress,
  }: {
    allowDuplicates: boolean;
    table: AskedOfFile["table"];
    onProgress: (done: number, total: number) => void;
  },
): Promise<ResolvedGenerations> {
  const products = await namedProducts(asked, service, onProgress);
  const models = asked.some(({ model }) => model !== null) ? await allModels(service) : [];
  const problems = new Map<string, InputProblem>();
  const unresolved = new Map<number, Rejection>();
  const generations: Generation[] = [];
  const lineOfImage = new Map<string, number>();
  for (const generation of asked) {
    const { line } = generation;
    const report = (reference: string | null, field: string | undefined, code: string, reported: string) => {
      const problem = { line, reference: reference ?? undefined, param: field, code, message: reported };
      const located = table?.located(problem) ?? problem;
      problems.set(`${line} ${field} ${reported}`, located);
      if (!unresolved.has(line)) unresolved.set(line, { code, message: located.message, field });
    };
    const known = generation.productReference ?? generation.productId;
    const add: Add = (param, code, message) => report(known, param, code, message);
    const resolved = resolveGeneration(generation, products, models, add);
    if (resolved === null) continue;
    generations.push(resolved);
    const key = contentKey(resolved);
    const before = lineOfImage.get(key);
    if (before === undefined) lineOfImage.set(key, line);
    else if (!allowDuplicates) {
      const where = placeOfUse({ line: before, file: null, ...table?.placeOfReference(before) });
      const message = `the same image is requested${where}: remove one, or add --allow-duplicates`;
      report(resolved.productReference ?? resolved.productId, undefined, "duplicate_input", message);
    }
  }
  return {
    generations: generations.filter(({ line }) => !unresolved.has(line)),
    problems: [...problems.values()],
    unresolved,
  };
}

async function namedProducts(
  asked: readonly AskedGeneration[],
  service: BulkReader,
  onProgress: (done: number, total: number) => void,
): Promise<Known> {
  const ids = new Set<string>();
  const references = new Set<string>();
  const wantReference = (name: string) => {
    for (const reference of namedReferences(name)) references.add(reference);
  };
  const want = (name: string) => void (ulidPattern.test(name) ? ids.add(name) : wantReference(name));
  for (const { productId, productReference, stylings } of asked) {
    if (productId !== null) ids.add(productId);
    else wantReference(productReference!);
    for (const styling of stylings) want(styling);
  }
  const foundProducts = await productsBy({ ids, references }, service, { onProgress });
  const areAllFound = foundProducts.byId.size + foundProducts.byReference.size === ids.size + references.size;
  const searched = areAllFound ? foundProducts : await withSomeOthers(foundProducts, service);
  return { ...searched, proposalsFor: referenceProposals(searched) };
}

type Known = FoundProducts & { readonly proposalsFor: ReturnType<typeof referenceProposals> };

type Add = (param: string, code: string, message: string) => void;

/** The generation by IDs; null where something was reported. */
function resolveGeneration(
  { model: modelName, ...look }: AskedGeneration,
  products: Known,
  models: readonly Model[],
  add: Add,
): Generation | null {
  const product = mainProduct(look, products, add);
  const model = modelName === null ? null : findModel(modelName, models, add);
  const stylings: string[] = [];
  for (const name of look.stylings) {
    const styling = (ulidPattern.test(name) ? products.byId.get(name) : productOf(name, products)) ?? null;
    if (styling === null) add("styling_product_ids", "product_not_found", unknownNamed(name, products));
    else stylings.push(styling.id);
  }
  if (product === null || model === undefined || stylings.length < look.stylings.length) return null;
  if (stylings.includes(product.id)) {
    add("styling_product_ids", "invalid_row", "styling_product_ids contains the main product: remove it");
    return null;
  }
  return {
    ...look,
    productId: product.id,
    productReference: referenceOfProduct(product),
    modelId: model?.id ?? null,
    modelName: model?.name ?? null,
    stylings,
    ...(isMismatch(product.sex, model?.sex) && { sexes: { product: product.sex!, model: model!.sex! } }),
  };
}

/** Whether a product for women is on a man, or the other way round: the other sexes fit any model. */
const isMismatch = (product: string | null, model: string | null | undefined): boolean =>
  (product === "female" && model === "male") || (product === "male" && model === "female");

function mainProduct(
  { productId, productReference }: Pick<AskedGeneration, "productId" | "productReference">,
  products: Known,
  add: Add,
): Product | null {
  if (productId === null) {
    const product = productOf(productReference!, products);
    if (product === null)
      add("product_reference", "product_not_found", unknownNamed(productReference!, products));
    return product;
  }
  const product = products.byId.get(productId) ?? null;
  if (product === null) add("product_id", "product_not_found", unknownNamed(productId, products));
  else if (
    productReference !== null &&
    !namedReferences(productReference).some((reference) => reference === referenceOfProduct(product))
  ) {
    const actual = JSON.stringify(product.reference);
    const message = `product ${productId} has the reference ${actual}, not ${JSON.stringify(productReference)}: fix one of them`;
    add("product_reference", "product_mismatch", message);
  }
  return product;
}

/** `name` may be several values, which only a matrix separates. */
const orMatrix = (name: string, otherwise: string): string =>
  splitValues(name).length > 1 ? ": to generate an image for each value, add --matrix" : otherwise;

const unknownNamed = (name: string, { proposalsFor }: Known): string =>
  unknownProduct(name, proposalsFor(name), orMatrix(name, " in this organization"));

/** The model; undefined where none, or several, have that name. */
function findModel(name: string, models: readonly Model[], add: Add): Model | undefined {
  const matches = modelsNamed(name, models);
  if (matches.length === 1) return matches[0];
  if (matches.length > 1) {
    const ids = matches.map(({ id }) => id).join(", ");
    add(
      "model_id",
      "model_ambiguous",
      `${matches.length} models are named ${JSON.stringify(name)}: use an ID (${ids})`,
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
