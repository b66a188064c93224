import type { Product } from "../../contract/resources/products.ts";
import { CatError } from "../../errors.ts";
import { removeEach } from "../../flows/catalogue/removals.ts";
import { counted, listFirst } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { confirmAction } from "../app/confirm-action.ts";
import { PartialError, withHint } from "../context/errors.ts";
import { commandLine } from "../output/command-words.ts";
import { printLine } from "../output/io.ts";
import { findNamedProduct } from "./find-product.ts";

const namedProducts = 20;

/** Deletes products after a question that names them. Deletes none if one of them is not found (exit 5). */
export async function deleteProducts(app: App, names: readonly string[]): Promise<void> {
  const readAt = app.context.clock.now();
  const products = await findProducts(app, names);
  const shown = products.map(productName);
  const about = listFirst(shown, namedProducts);
  const what = counted(products.length, "product");
  await confirmAction(app, {
    question: `Delete ${what}?`,
    about,
    reason: `deleting ${what} (${about}) needs a confirmation`,
    left: "nothing was deleted",
  });
  const gone: string[] = [];
  const kept: string[] = [];
  const done: string[] = [];
  const items = products.map((product) => ({ product, imageId: null }));
  const { interrupt: signal, clock } = app.context;
  const host = { client: await app.client(), clock, signal, newKey: () => crypto.randomUUID() };
  const stopped = await removeEach(items, readAt, host, async ({ product }, { result, reason }) => {
    const { id, reference } = product;
    if (result === "kept") return void kept.push(`${productName(product)}: ${reason}`);
    if (result === "gone") gone.push(productName(product));
    done.push(productName(product));
    if (app.io.json) await app.io.jsonData({ id, reference, deleted: true });
  });
  if (kept.length > 0) await printLine(app, `Not deleted: ${kept.join("; ")}.`);
  if (stopped !== undefined) {
    if (done.length > 0) await printLine(app, `Deleted ${done.length} of ${what}: ${done.join(", ")}.`);
    throw failure(app, stopped, products.slice(done.length + kept.length));
  }
  if (gone.length > 0) await printLine(app, `Already deleted by another client: ${gone.join(", ")}.`);
  await app.io.note(`Deleted ${kept.length === 0 ? what : `${done.length} of ${what}`}.`);
  if (kept.length > 0) throw new PartialError(`${kept.length} of ${what} kept`);
}

/** The products, each once. Throws a `not_found` error with the command that deletes those that exist. */
async function findProducts(app: App, names: readonly string[]): Promise<readonly Product[]> {
  const byId = new Map<string, Product>();
  const missing: CatError[] = [];
  for (const name of names) {
    try {
      const product = await findNamedProduct(app, name);
      byId.set(product.id, product);
    } catch (error) {
      if (!(error instanceof CatError) || error.code !== "product_not_found") throw error;
      missing.push(error);
    }
  }
  const products = [...byId.values()];
  const [first] = missing;
  if (first === undefined) return products;
  const others = `Nothing was deleted. To delete the others, run: ${deleteLine(app, products)}`;
  const hint = products.length === 0 ? first.hint : others;
  throw withHint(first, hint, missing.map(({ message }) => message).join("; "));
}

/** The error of the first of the products that are left, with the command that deletes them. */
function failure(app: App, error: unknown, remaining: readonly Product[]): unknown {
  if (!(error instanceof CatError)) return error;
  const next = `To delete the remaining ${counted(remaining.length, "product")}, run: ${deleteLine(app, remaining)}`;
  const { hint, message } = error;
  const hints = hint === undefined ? next : `${hint} ${next}`;
  return withHint(error, hints, `cannot delete ${productName(remaining[0]!)}: ${message}`);
}

const productName = ({ reference, name, id }: Product): string => `${reference ?? id} (${name})`;

const deleteLine = (app: App, products: readonly Product[]): string => {
  // A reference that starts with - would be a flag.
  const names = products.map(({ id, reference }) => (reference?.startsWith("-") ? id : (reference ?? id)));
  return commandLine(["products", "delete", ...names, ...(app.globals.yes ? ["--yes"] : [])], app.globals);
};
