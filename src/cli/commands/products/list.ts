import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { listResource } from "../../resources/list-resource.ts";
import { productColumns } from "./columns.ts";

/** `cat products list` */
export const listCommand = listResource({
  summary: "list or search products",
  description: "List or search the products in your catalogue.",
  operation: operations.products.list,
  columns: productColumns,
  filters: [new Option("--q <TEXT>", "only products with TEXT in the reference or name")],
  completes: { kind: "products", name: ({ reference, name, id }) => [reference ?? id, name ?? ""] },
  none: ({ q }: { q?: string }) => (q === undefined ? "No products yet." : "No products found."),
  examples: [
    ["list the first 25 products", "cat products list"],
    ["save all products as a spreadsheet", "cat products list --all --format csv > products.csv"],
    ["print the references of all dresses", "cat products list --q dress --all --json | jq -r .reference"],
  ],
});
