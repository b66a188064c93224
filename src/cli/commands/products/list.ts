import { type Command, Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { type ListFormat, listFormats } from "../../output/columns.ts";
import { wholeNumber } from "../../values.ts";
import { productColumns } from "./columns.ts";

/** What the list is asked for. */
export interface ListInput {
  q: string | undefined;
  /** The most products to print; null prints all. */
  limit: number | null;
  format: ListFormat | undefined;
}

/** How many products are printed unless the user says more: the service's own default. */
const defaultLimit = 25;
/** The largest page that the service gives (Limits). */
const largestPage = 100;

/** `cat products list`: parses the flags; `run` does the work. */
export const listCommand = (app: App, run = listProducts): Command =>
  command("list")
    .summary("list products")
    .usage("[flags]")
    .description("List products, or search them.")
    .option("--q <TEXT>", "only products with this text in their reference or name")
    .addOption(
      new Option("--limit <N>", `how many at most (default ${defaultLimit})`)
        .argParser(wholeNumber({ min: 1 }))
        .conflicts("all"),
    )
    .option("--all", "all there are")
    .addOption(new Option("--format <FORMAT>", "how to print them").choices(listFormats))
    .addHelpText(
      "after",
      examples([
        ["the first 25 products", "cat products list"],
        ["every product as a spreadsheet", "cat products list --all --format csv > products.csv"],
        [
          "the references of all dresses, for a script",
          "cat products list --q dress --all --json | jq -r .reference",
        ],
      ]),
    )
    .action(async (options: { q?: string; limit?: number; all?: true; format?: ListFormat }) => {
      await run(app, {
        q: options.q,
        limit: options.all ? null : (options.limit ?? defaultLimit),
        format: options.format,
      });
    });

/** Prints the products that match, page by page. */
export async function listProducts(app: App, { q, limit, format }: ListInput): Promise<void> {
  const client = await app.client();
  const wanted = limit ?? Number.POSITIVE_INFINITY;
  // One more than wanted tells whether there are more, at no further request for most limits.
  const pages = client.paginate(
    operations.products.list,
    { ...(q === undefined ? {} : { q }), limit: Math.min(wanted + 1, largestPage) },
    { signal: app.context.interrupt },
  );
  let more = false;
  async function* firstOnes(): AsyncGenerator<Product> {
    let count = 0;
    for await (const product of pages) {
      if (count === wanted) {
        more = true;
        return;
      }
      count++;
      yield product;
    }
  }
  const count = await app.io.show(productColumns, firstOnes(), format);
  if (count === 0) await app.io.note(q === undefined ? "There are no products yet." : "No product matches.");
  else if (more) await app.io.note(`These are the first ${count}; --all shows all, --limit N more.`);
}
