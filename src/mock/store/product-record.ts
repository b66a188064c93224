import type { ProductImage } from "../../contract/resources/product.ts";
import type { sexes } from "../../contract/value-sets.ts";

/** A product as it is kept. A deleted one stays by its id, for delta exports, but holds its reference no longer. */
export interface ProductRecord {
  /** Where it stands in the order of creation: what the cursors of a list go by. */
  readonly order: number;
  readonly id: string;
  name: string;
  reference: string;
  description: string | null;
  sex: (typeof sexes)[number] | null;
  images: ProductImage[];
  /** The ids of the images that tasks made for it, oldest first. */
  generations: readonly string[];
  readonly created_at: string;
  updated_at: string;
  /** What a delta goes by: a field edited, a photo attached, a generation finished, or deleted (Exports, `since`). */
  changed_at: string;
  deleted_at: string | null;
}

/** What a row of an export says of a product: its record as it is now, or as it was when a selection was frozen. */
export type ExportedProduct = Readonly<
  Pick<ProductRecord, "id" | "reference" | "name" | "sex" | "generations"> & {
    images: readonly Readonly<Pick<ProductRecord["images"][number], "id" | "orientation">>[];
  }
>;
