import type { ExportJob } from "../../contract/resources/export.ts";
import type { AssetRole, exportFormats } from "../../contract/value-sets.ts";
import type { ExportedProduct } from "./product-record.ts";

/**
 * An export job as it is kept: what was selected, not what it is written as. An image never changes, so the ids of a product's
 * images are enough to write its artifact again, the same each time.
 */
export interface ExportRecord
  extends Pick<ExportJob, "id" | "status" | "total_assets" | "error" | "created_at" | "finished_at"> {
  readonly format: (typeof exportFormats)[number];
  /** When a ZIP is rendered, in milliseconds since the epoch. */
  readonly ready_at: number;
  /** The assets that were asked for; null for all. */
  readonly roles: readonly AssetRole[] | null;
  /** The products as they were. */
  readonly products: readonly ExportedProduct[];
}
