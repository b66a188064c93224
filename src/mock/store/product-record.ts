import type { ProductImage } from "../../contract/resources/product.ts";
import type { sexes } from "../../contract/value-sets.ts";

/**
 * A stored product. A deleted product stays available by ID for delta exports, but its reference is free
 * again.
 */
export interface ProductRecord {
  /** Position in the order of creation; cursors of lists use it. */
  readonly order: number;
  readonly id: string;
  name: string;
  reference: string;
  description: string | null;
  sex: (typeof sexes)[number] | null;
  images: ProductImage[];
  /** IDs of its generated images, oldest first. */
  generations: readonly string[];
  readonly created_at: string;
  updated_at: string;
  /**
   * Time for deltas: last field change, attached photo, finished generation or deletion (Exports, `since`).
   */
  changed_at: string;
  deleted_at: string | null;
}

/** The part of a product that an export row needs: the live record, or a frozen copy. */
export type ExportedProduct = Readonly<
  Pick<ProductRecord, "id" | "reference" | "name" | "sex" | "generations"> & {
    images: readonly Readonly<Pick<ProductRecord["images"][number], "id" | "orientation">>[];
  }
>;
