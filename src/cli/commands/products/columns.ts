import { Product } from "../../../contract/resources/product.ts";
import { fieldTree } from "../../../contract/response-values.ts";
import type { ResourceForm } from "../../flags/print-flags.ts";
import type { Column } from "../../output/columns.ts";

/** The columns of products in tables and CSV files; the names are those of the service. */
export const productColumns: readonly Column<Product>[] = [
  { name: "id", value: (product) => product.id },
  { name: "reference", value: (product) => product.reference, cut: "last" },
  { name: "name", value: (product) => product.name },
  { name: "description", value: (product) => product.description, only: "csv" },
  { name: "sex", value: (product) => product.sex },
  { name: "images", value: ({ images }) => (Array.isArray(images) ? images.length : null), only: "table" },
  // As in an import file, but without orientations: `--for-import` prints those.
  { name: "images", value: photoIds, only: "csv" },
  { name: "created_at", value: (product) => product.created_at, only: "csv" },
  { name: "updated_at", value: (product) => product.updated_at, only: "csv" },
];

/** The form of one product. */
export const productForm: ResourceForm<Product> = { columns: productColumns, fields: fieldTree(Product) };

/** The IDs of the photos; null if the response has no list of them. */
function photoIds({ images }: Product): string | null {
  if (!Array.isArray(images)) return null;
  return images.flatMap((image: { id?: unknown } | null) => image?.id ?? []).join("|");
}
