import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { listResource } from "../../resources/list-resource.ts";
import { productColumns } from "./columns.ts";

/** `cat products list` */
export const listCommand = listResource({
  summary: "list products",
  description: "List products, or search them.",
  operation: operations.products.list,
  columns: productColumns,
  filters: [new Option("--q <TEXT>", "only products with this text in their reference or name")],
  none: ({ q }: { q?: string }) => (q === undefined ? "There are no products yet." : "No product matches."),
  examples: [
    ["the first 25 products", "cat products list"],
    ["every product as a spreadsheet", "cat products list --all --format csv > products.csv"],
    [
      "the references of all dresses, for a script",
      "cat products list --q dress --all --json | jq -r .reference",
    ],
  ],
});
