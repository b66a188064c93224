import type { Command } from "commander";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { type ListFlags, type RawListFlags, readListFlags, withListFlags } from "../../list-flags.ts";
import { FirstOnes } from "../../output/first-ones.ts";
import { productColumns } from "./columns.ts";

/** What the list is asked for. */
export interface ListInput extends ListFlags {
  q: string | undefined;
}

/** `cat products list`: parses the flags; `run` does the work. */
export const listCommand = (app: App, run = listProducts): Command =>
  withListFlags(
    command("list")
      .summary("list products")
      .usage("[flags]")
      .description("List products, or search them.")
      .option("--q <TEXT>", "only products with this text in their reference or name"),
  )
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
    .action(async ({ q, ...flags }: RawListFlags & { q?: string }) => {
      await run(app, { q, ...readListFlags(flags) });
    });

/** Prints the products that match, page by page. */
export async function listProducts(app: App, { q, limit, format }: ListInput): Promise<void> {
  const client = await app.client();
  // One more than wanted tells whether there are more, at no further request for most limits.
  const page = Math.min((limit ?? Number.POSITIVE_INFINITY) + 1, limits.page.max);
  const products = new FirstOnes(
    client.paginate(
      operations.products.list,
      { ...(q === undefined ? {} : { q }), limit: page },
      { signal: app.context.interrupt },
    ),
    limit,
  );
  const count = await app.io.show(productColumns, products, format);
  if (count === 0) await app.io.note(q === undefined ? "There are no products yet." : "No product matches.");
  else if (products.isMore)
    await app.io.note(`These are the first ${count}; --all shows all, --limit N more.`);
}
