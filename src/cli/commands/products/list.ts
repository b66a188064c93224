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
  filters: [
    new Option("--q <TEXT>", "only products with TEXT in the reference or name"),
    new Option("--for-import", "all of them as a file that cat import reads without a change").conflicts([
      "fields",
      "formulaGuard",
    ]),
  ],
  async printedAs(app, flags: { q?: string; forImport?: true }) {
    if (flags.forImport === undefined) return false;
    const { printImportSheet } = await import("./import-sheet.ts");
    await printImportSheet(app, flags);
    return true;
  },
  completes: { kind: "products", name: ({ reference, name, id }) => [reference ?? id, name ?? ""] },
  none: ({ q }: { q?: string }) => (q === undefined ? "No products yet." : "No products found."),
  examples: [
    ["list the first 25 products", "cat products list"],
    ["save all products, to change and import them", "cat products list --for-import > products.csv"],
    ["print the references of all dresses", "cat products list --q dress --all --json | jq -r .reference"],
  ],
});
