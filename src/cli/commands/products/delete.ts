import type { Command } from "commander";
import { CatError } from "../../../errors.ts";
import { isNotFound } from "../../../flows/service-errors.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { InterruptError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { commandLine } from "../../output/command-line.ts";
import { productOf } from "./product-of.ts";

/** How many products the question names. */
const namedProducts = 20;

/** `cat products delete`: parses the arguments; `run` does the work. */
export const deleteCommand = (app: App, run = deleteProducts): Command =>
  command("delete")
    .summary("delete products")
    .usage("ID|REFERENCE ... [flags]")
    .description("Delete products. This cannot be undone.")
    .argument("<ID|REFERENCE...>", "IDs or references of the products")
    .addHelpText(
      "after",
      examples([
        ["delete a product", "cat products delete DRESS-1"],
        ["delete products in a script", "cat products delete DRESS-1 DRESS-2 --yes"],
      ]),
    )
    .action(async (products: string[]) => run(app, { products }));

interface Found {
  readonly id: string;
  readonly name: string;
  readonly reference: string | null;
}

/** Deletes products after a question that names them. Deletes none if one of them is not found (exit 5). */
export async function deleteProducts(app: App, { products }: { products: readonly string[] }): Promise<void> {
  const found = await foundProducts(app, products);
  const shown = [...found.values()].map(shownProduct);
  const rest = shown.length - namedProducts;
  const names = shown.slice(0, namedProducts).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const what = counted(found.size, "product");
  await confirmAction(app, {
    question: `Delete ${what}?`,
    about: names,
    doing: `deleting ${what} (${names})`,
    left: "nothing was deleted",
  });
  const client = await app.client();
  const all = [...found.values()];
  const gone: string[] = [];
  const done: string[] = [];
  for (const product of all) {
    const { id, reference } = product;
    try {
      await client.products.delete({ product_id: id }, { signal: app.context.interrupt });
    } catch (error) {
      if (!isNotFound(error)) {
        if (done.length > 0) await app.io.line(`Deleted ${done.length} of ${what}: ${done.join(", ")}.`);
        throw failure(app, error, all.slice(done.length));
      }
      gone.push(shownProduct(product));
    }
    done.push(shownProduct(product));
    if (app.io.json) await app.io.jsonData({ id, reference, deleted: true });
  }
  if (gone.length > 0) await app.io.line(`Already deleted by another client: ${gone.join(", ")}.`);
  await app.io.note(`Deleted ${what}.`);
}

/** The products, each once. Throws a `not_found` error with the command for the others. */
async function foundProducts(app: App, products: readonly string[]): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const missing: CatError[] = [];
  for (const product of products) {
    try {
      const one = await productOf(app, product);
      found.set(one.id, one);
    } catch (error) {
      if (!(error instanceof CatError) || error.code !== "product_not_found") throw error;
      missing.push(error);
    }
  }
  const [first] = missing;
  if (first === undefined) return found;
  if (found.size === 0 && missing.length === 1) throw first;
  const { type, code, hint } = first;
  throw new CatError(missing.map(({ message }) => message).join("; "), {
    type,
    code,
    hint:
      found.size === 0
        ? hint
        : `Nothing was deleted. To delete the others, run: ${deleteLine(app, [...found.values()])}`,
  });
}

/** The error of the first of the products that are left, with the command that deletes them. */
function failure(app: App, error: unknown, left: readonly Found[]): unknown {
  const next = `To delete the remaining ${counted(left.length, "product")}, run: ${deleteLine(app, left)}`;
  if (error instanceof InterruptError) {
    return new InterruptError(error.signal, { message: error.message, hint: next });
  }
  if (!(error instanceof CatError)) return error;
  const { message, hint, type, code, param, status, requestId } = error;
  return new CatError(`cannot delete ${shownProduct(left[0]!)}: ${message}`, {
    ...{ type, code, param, status, requestId },
    hint: hint === undefined ? next : `${hint} ${next}`,
    cause: error,
  });
}

const shownProduct = ({ reference, name, id }: Found): string => `${reference ?? id} (${name})`;

const deleteLine = (app: App, products: readonly Found[]): string =>
  commandLine(
    [
      ...["products", "delete"],
      // A reference that starts with - would be a flag.
      ...products.map(({ id, reference }) => (reference?.startsWith("-") ? id : (reference ?? id))),
      ...(app.globals.yes ? ["--yes"] : []),
    ],
    app.globals,
  );
