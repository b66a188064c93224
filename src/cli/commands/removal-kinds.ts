import { countProducts, imagesOf, type Removal, type RemovalResult } from "../../flows/catalogue/removals.ts";
import { photosKind, productsKind, type SelectionKind } from "../../flows/export/selection/columns.ts";
import type { WantedProduct } from "../../flows/export/selection/selection.ts";
import type { InputProblem } from "../../flows/rows/problem.ts";
import type { Service } from "../../flows/service.ts";

/** A product or a photo that a row names, and its result; null if it was not reached. */
export interface RemovalEntry extends Removal {
  readonly named: WantedProduct;
  removed: RemovalResult | null;
}

export interface RemovalKind {
  readonly selection: SelectionKind;
  readonly thing: "product" | "photo";
  readonly noun: string;
  readonly verb: "delete" | "detach";
  readonly done: "deleted" | "detached";
  readonly limit: "--max-delete" | "--max-removals";
  readonly limitCode: string;
  /** The total for the limit's percentage, after a number: `products in the catalogue`. */
  readonly all: string;
  total(items: readonly RemovalEntry[], service: Service, enough: number): Promise<number>;
}

/** `cat products delete --from FILE` */
export const deletion: RemovalKind = {
  selection: productsKind,
  thing: "product",
  noun: "deletion",
  verb: "delete",
  done: "deleted",
  limit: "--max-delete",
  limitCode: "too_many_deletions",
  all: "the products in the catalogue",
  total: (_, service, enough) => countProducts(service, enough),
};

/** `cat products detach --from FILE` */
export const detachment: RemovalKind = {
  selection: photosKind,
  thing: "photo",
  noun: "detachment",
  verb: "detach",
  done: "detached",
  limit: "--max-removals",
  limitCode: "too_many_removals",
  all: "the photos of these products",
  async total(items) {
    const products = new Map(items.map(({ product }) => [product.id, product]));
    return [...products.values()].reduce((sum, product) => sum + imagesOf(product).length, 0);
  },
};

export interface RemovalOutcome {
  /** Null with --dry-run. */
  readonly runId: string | null;
  readonly entries: readonly RemovalEntry[];
  /** The rows that name nothing of the service. */
  readonly problems: readonly InputProblem[];
  /** The error or interrupt that ended it early; undefined for none. */
  readonly stopped: unknown;
}
