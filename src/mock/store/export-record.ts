import type { ExportJob } from "../../contract/resources/export.ts";
import type { AssetRole, exportFormats } from "../../contract/value-sets.ts";
import type { ExportedProduct } from "./product-record.ts";

/**
 * A stored export job: the selection, not the artifact. Images never change, so their IDs are enough to
 * write the same artifact again.
 */
export interface ExportRecord
  extends Pick<ExportJob, "id" | "status" | "total_assets" | "error" | "created_at" | "finished_at"> {
  readonly format: (typeof exportFormats)[number];
  /** Completion time of a ZIP in milliseconds since the epoch. */
  readonly ready_at: number;
  /** The requested asset roles; null for all. */
  readonly roles: readonly AssetRole[] | null;
  /** The products at the time of the request. */
  readonly products: readonly ExportedProduct[];
}
