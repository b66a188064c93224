import type { Model } from "../contract/resources/model.ts";
import type { imageTypes } from "../contract/value-sets.ts";
import { Catalogue } from "./catalogue.ts";
import type { ImportJob } from "./jobs/import-record.ts";
import { IdempotencyKeys } from "./rules/idempotency.ts";
import { RateWindow } from "./rules/rate-limit.ts";

/** An image as it is kept: the bytes that were uploaded, or what to draw when its bytes are asked for. */
export interface ImageRecord {
  readonly id: string;
  readonly mime_type: (typeof imageTypes)[number];
  readonly created_at: string;
  readonly width: number;
  readonly height: number;
  /** Null for a picture that is drawn from `subject` and `seed` whenever it is read. */
  readonly bytes: Buffer | null;
  readonly subject: string;
  readonly seed: string;
}

/** A person for try-ons, without what is signed anew on every read. */
export type ModelRecord = Pick<
  Model,
  "id" | "name" | "is_public" | "sex" | "body_type" | "age_bracket" | "ethnicity" | "hair_color" | "eye_color"
>;

/** Everything that belongs to one organization; nothing of it is seen by another (What the service does). */
export class Organization {
  readonly name: string;
  readonly products = new Catalogue();
  readonly images = new Map<string, ImageRecord>();
  readonly imports = new Map<string, ImportJob>();
  /** Its own models, beside the curated ones that everybody sees. */
  readonly models: ModelRecord[] = [];
  readonly keys = new IdempotencyKeys();
  readonly rate = new RateWindow();

  constructor(name: string) {
    this.name = name;
  }
}
