import type { Model } from "../../contract/resources/model.ts";
import type { imageTypes } from "../../contract/value-sets.ts";
import type { OrganizationName } from "../rules/authenticate.ts";
import { IdempotencyKeys } from "../rules/idempotency.ts";
import { RateWindow } from "../rules/rate-limit.ts";
import { AttachedGenerations } from "./attached-generations.ts";
import { Catalogue } from "./catalogue.ts";
import type { ExportRecord } from "./export-record.ts";
import type { ImportJob } from "./import-record.ts";
import { Tasks } from "./task-record.ts";
import { Webhooks } from "./webhooks.ts";

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
  /** Null for the caller's own photo. */
  readonly generation: Generation | null;
}

/** How an image came to be that a task made: what its asset in an export says (ExportRow). */
export interface Generation {
  readonly role: "beautifier" | "tryon";
  readonly task_id: string;
  /** The product it was made for, under which it is listed while that is there. */
  readonly product_id: string;
  readonly angle_shot: string;
  readonly background: string;
  /** Null for a beautifier. */
  readonly model_id: string | null;
  /** The ids of the styling products. */
  readonly also_features: readonly string[];
}

/** A person for try-ons, without what is signed anew on every read. */
export type ModelRecord = Pick<
  Model,
  "id" | "name" | "is_public" | "sex" | "body_type" | "age_bracket" | "ethnicity" | "hair_color" | "eye_color"
>;

/** Everything that belongs to one organization; nothing of it is seen by another (What the service does). */
export class Organization {
  readonly name: OrganizationName;
  readonly products = new Catalogue();
  readonly images = new Map<string, ImageRecord>();
  readonly attached = new AttachedGenerations();
  readonly imports = new Map<string, ImportJob>();
  readonly webhooks = new Webhooks();
  readonly exports = new Map<string, ExportRecord>();
  readonly tasks = new Tasks();
  /** Its own models, beside the curated ones that everybody sees. */
  readonly models: ModelRecord[] = [];
  /** Generations that may still be queued; null for no limit. */
  credits: number | null = null;
  readonly keys = new IdempotencyKeys();
  readonly rate = new RateWindow();

  constructor(name: OrganizationName) {
    this.name = name;
  }
}
