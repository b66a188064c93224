import type { ImportRowImage } from "../../contract/import-row.ts";
import type { ExportJob } from "../../contract/resources/export.ts";
import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import type { ProductImage } from "../../contract/resources/product.ts";
import type { Model } from "../../contract/resources/task.ts";
import type {
  AssetRole,
  exportFormats,
  ImportMode,
  imageTypes,
  OnImageError,
  sexes,
} from "../../contract/value-sets.ts";

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

/** A stored image: uploaded bytes, or the source of a picture that is drawn on read. */
export interface ImageRecord {
  readonly id: string;
  readonly mime_type: (typeof imageTypes)[number];
  readonly created_at: string;
  readonly width: number;
  readonly height: number;
  /** Null for a picture drawn from `subject` and `seed`. */
  readonly bytes: Buffer | null;
  readonly subject: string;
  readonly seed: string;
  /** Null for an uploaded photo. */
  readonly generation: Generation | null;
}

/** The origin of a generated image, as its asset in an export shows it (ExportRow). */
export interface Generation {
  readonly role: "beautifier" | "tryon";
  readonly task_id: string;
  /** The product that it was made for, which lists it until deleted. */
  readonly product_id: string;
  readonly angle_shot: string;
  readonly background: string;
  /** Null for a beautifier. */
  readonly model_id: string | null;
  /** IDs of the styling products. */
  readonly also_features: readonly string[];
}

/** A stored model, without the URL that is signed on every read. */
export type ModelRecord = Pick<
  Model,
  "id" | "name" | "is_public" | "sex" | "body_type" | "age_bracket" | "ethnicity" | "hair_color" | "eye_color"
>;

/** An accepted row: validated by `importRowProblems`, with a trimmed reference. */
export interface AcceptedRow {
  reference: string;
  name: string;
  description?: string | undefined;
  sex?: (typeof sexes)[number] | undefined;
  images: ImportRowImage[];
}

/** One submitted row and its result. */
export interface ImportJobRow {
  /** Null once the row is done. */
  row: AcceptedRow | null;
  result: ImportRowResult;
}

/**
 * A stored import. Its progress follows from these numbers and the clock, so it continues after a restore.
 */
export interface ImportJob
  extends Pick<Import, "id" | "status" | "created_at" | "started_at" | "finished_at"> {
  readonly mode: ImportMode;
  readonly on_image_error: OnImageError;
  /** End of the validation in milliseconds since the epoch. */
  readonly validated_at: number;
  /** Duration of one row in milliseconds. */
  readonly row_ms: number;
  /** In input order. */
  readonly rows: ImportJobRow[];
  /** Number of rows done, from the first on. */
  done: number;
  succeeded: number;
  partial: number;
  failed: number;
}

/** Whether the status is final (States, Import job). */
export const isTerminal = (job: Pick<ImportJob, "status">): boolean =>
  job.status !== "validating" && job.status !== "processing";

/** The result of a pending row. */
export const pendingResult = (line: number, reference: string): ImportRowResult => ({
  line,
  reference,
  status: "pending",
  action: null,
  product_id: null,
  images: [],
  error: null,
});

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
