// Made from the schemas of the mock by `npm run api-types`; a test compares both.

/** A product. A deleted one stays for delta exports; its reference is free again. */
export interface StateProduct {
  /** The ID, a ULID. A ULID: 26 characters. */
  id: string;
  /** The name; null for a model without one. Not empty. */
  name: string;
  /** Your product code; null for a product of the dashboard. Not empty. */
  reference: string | null;
  /** The description; null without one. */
  description: string | null;
  /** The sex that the product is made for; null if unknown. */
  sex: "male" | "female" | "other" | "kid" | null;
  /** The photos, in order. At least one entry. */
  images: {
    /** The ID, a ULID. A ULID: 26 characters. */
    id: string;
    /** The side of the product that the photo shows. */
    orientation:
      | "front"
      | "back"
      | "left"
      | "right"
      | "top"
      | "bottom"
      | "three-quarter-left"
      | "three-quarter-right"
      | "detail"
      | "unlabeled"
      | "side";
    /** `user` for a photo that was uploaded, else a generated image. */
    origin: "user" | "beautifier" | "other";
  }[];
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** When a field changed last, RFC 3339 in UTC. RFC 3339, in UTC. */
  updated_at: string;
  /** Its position in the order of creation. At most 100,000,000,000,000. */
  order: number;
  /** IDs of its generated images, oldest first. ULIDs: 26 characters each. */
  generations: readonly string[];
  /** When a field, photo or generation changed last, RFC 3339 in UTC: for delta exports. RFC 3339, in UTC. */
  changed_at: string;
  /** When it was deleted, RFC 3339 in UTC; null for a product that exists. RFC 3339, in UTC. */
  deleted_at: string | null;
}

/** An uploaded image, or the source of a picture that is drawn when it is read. */
export interface StateImage {
  /** The ID, a ULID. A ULID: 26 characters. */
  id: string;
  /** The type of its bytes. */
  mime_type: "image/jpeg" | "image/png" | "image/webp";
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** Width in pixels; null if unknown. */
  width: number | null;
  /** Height in pixels; null if unknown. */
  height: number | null;
  /** Base64; null for a picture drawn from `subject` and `seed`. */
  bytes: string | null;
  /** The kind of garment that is drawn, or `scene`. */
  subject: string;
  /** Decides colors and pattern of what is drawn; a scene as JSON. */
  seed: string;
  /** Name and reference of the product that a drawn photo was made for. */
  words?: string | undefined;
  /** How it was generated; null for an uploaded photo. */
  generation: {
    /** The role of its asset in exports. */
    role: string;
    /** The task that made it; null for a generation of the dashboard. A ULID: 26 characters. */
    task_id: string | null;
    /** The product that it belongs to; null for none. A ULID: 26 characters. */
    product_id: string;
    /** The view of the product. */
    angle_shot: string;
    /** The background of the image. */
    background: string;
    /** The model that wears the product; null for a beautifier. */
    model_id: string | null;
    /** IDs of the other products in the image. ULIDs: 26 characters each. */
    also_features: readonly string[];
  } | null;
  /** The number of the edit that is its active version; missing for the generation itself. */
  edit_number?: number | undefined;
  /** Whether the active version has a watermark. Default: false. */
  watermarked?: boolean | undefined;
  /** Attributes of its asset, in addition to those that follow from other fields. */
  attributes?: Record<string, string | number | boolean> | undefined;
}

/** An import. Its progress follows from its numbers and the clock. */
export interface StateImport {
  /** The ID, a ULID. */
  id: string;
  /** How far it is; `completed` and the others after it are final. */
  status: "validating" | "processing" | "completed" | "completed_with_errors" | "failed";
  /** How rows are handled whose reference exists. */
  mode: "upsert" | "create" | "skip_existing";
  /** How rows with a failed image are handled. */
  on_image_error: "skip" | "fail_row";
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** When it began, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  started_at: string | null;
  /** When it ended, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  finished_at: string | null;
  /** When its rows are checked, in milliseconds since 1970 (clock of the mock). */
  validated_at: number;
  /** Duration of one row in milliseconds. */
  row_ms: number;
  /** In the order of the request, with their results. 1 to 2,000 entries. */
  rows: {
    /** The row as sent; null once it is done. */
    row: {
      /** Your product code; null for a product of the dashboard. 1 to 100 characters. */
      reference: string;
      /** The name; null for a model without one. 1 to 200 characters. */
      name: string;
      /** The description; null without one. At most 2,000 characters. */
      description?: string | undefined;
      /** The sex that the product is made for; null if unknown. */
      sex?: "male" | "female" | "other" | "kid" | undefined;
      /** The photos, in order. */
      images: {
        /** The URL. */
        url?: string | undefined;
        /** The ID of the image. */
        image_id?: string | undefined;
        /** The side of the product that the photo shows. */
        orientation?:
          | "front"
          | "back"
          | "left"
          | "right"
          | "top"
          | "bottom"
          | "three-quarter-left"
          | "three-quarter-right"
          | "detail"
          | "unlabeled"
          | "side"
          | undefined;
      }[];
    } | null;
    /** The result of the row, as the service shows it. */
    result: {
      /** Line of the request body, from 1. */
      line: number;
      /** Your product code; null for a product of the dashboard. */
      reference: string;
      /** The status, as the service shows it. */
      status: "pending" | "succeeded" | "partial" | "failed";
      /** What was done with the product; null while the row is pending. */
      action: "created" | "updated" | "skipped" | "none" | null;
      /** The product that it belongs to; null for none. A ULID: 26 characters. */
      product_id: string | null;
      /** The photos, in order. */
      images: {
        /** Position among the images of the row, from 0. */
        index: number;
        /** The URL or image ID that was sent. */
        source: string;
        /** The side of the product that the photo shows. */
        orientation:
          | "front"
          | "back"
          | "left"
          | "right"
          | "top"
          | "bottom"
          | "three-quarter-left"
          | "three-quarter-right"
          | "detail"
          | "unlabeled"
          | "side"
          | (string & {});
        /** The status, as the service shows it. */
        status: "attached" | "failed";
        /** The ID of the image. A ULID: 26 characters. */
        image_id?: string | undefined;
        /** Why it failed; null otherwise. */
        error?:
          | {
              /** The code of the error. */
              code:
                | "http_error"
                | "timeout"
                | "too_large"
                | "not_an_image"
                | "blocked_host"
                | "dns_failed"
                | "image_not_found"
                | "row_failed"
                | (string & {});
              /** The text of the error. */
              message: string;
            }
          | undefined;
      }[];
      /** Why it failed; null otherwise. */
      error: {
        /** The code of the error. */
        code: "reference_already_exists" | "no_images" | "image_failed" | "too_many_attempts" | (string & {});
        /** The text of the error. */
        message: string;
      } | null;
    };
  }[];
  /** Number of rows done, from the first on. */
  done: number;
  /** Number of rows that succeeded. */
  succeeded: number;
  /** Number of rows that lack some of their images. */
  partial: number;
  /** Number of rows that failed. */
  failed: number;
}

/** An export job: the selection, not the file, which can be written again. */
export interface StateExport {
  /** The ID, a ULID. */
  id: string;
  /** A list of rows, or a ZIP of the files. */
  format: "manifest" | "zip";
  /** The status, as the service shows it. */
  status: "processing" | "completed" | "failed";
  /** Number of assets in the selection. */
  total_assets: number;
  /** Why it failed; null otherwise. */
  error: {
    /** The code of the error. */
    code: string;
    /** The text of the error. */
    message: string;
  } | null;
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** When it ended, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  finished_at: string | null;
  /** When a ZIP is complete, in milliseconds since 1970 (clock of the mock). */
  ready_at: number;
  /** The requested asset roles; null for all. */
  roles: readonly ("source" | "beautifier" | "tryon" | "recoloring")[] | null;
  /** The products at the time of the request. At most 500 entries. */
  products: readonly {
    /** The ID, a ULID. A ULID: 26 characters. */
    id: string;
    /** Your product code; null for a product of the dashboard. Not empty. */
    reference: string;
    /** The name; null for a model without one. Not empty. */
    name: string;
    /** The sex that the product is made for; null if unknown. */
    sex: "male" | "female" | "other" | "kid" | null;
    /** The photos, in order. */
    images: readonly {
      /** The ID, a ULID. A ULID: 26 characters. */
      id: string;
      /** The side of the product that the photo shows. */
      orientation:
        | "front"
        | "back"
        | "left"
        | "right"
        | "top"
        | "bottom"
        | "three-quarter-left"
        | "three-quarter-right"
        | "detail"
        | "unlabeled"
        | "side";
    }[];
    /** IDs of its generated images, oldest first. ULIDs: 26 characters each. */
    generations: readonly string[];
  }[];
}

/** A webhook with its secret, so that signatures stay valid after a load. */
export interface StateWebhook {
  /** The ID, a ULID. A ULID: 26 characters. */
  id: string;
  /** The URL. */
  url: string;
  /** The types of events that are delivered. At least one entry. */
  events: (
    | "task.succeeded"
    | "task.failed"
    | "import.completed"
    | "import.failed"
    | "export.completed"
    | "export.failed"
  )[];
  /** The status, as the service shows it. */
  status: "active" | "paused" | "disabled";
  /** The description; null without one. At most 2,000 characters. */
  description: string | null;
  /** Time of the last accepted event, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  last_delivery_at: string | null;
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** Its position in the order of creation. At most 100,000,000,000,000. */
  order: number;
  /** The secret of its signatures. */
  signing_secret: string;
  /** How often the secret was rotated. */
  rotations: number;
  /** Number of events in a row that were abandoned. */
  abandoned: number;
}

/** A task. Its progress follows from `runs_at`, `ends_at` and the clock. */
export interface StateTask {
  /** The ID, a ULID. */
  id: string;
  /** Whether the product is shown alone, or on a model. */
  type: "beautifier" | "tryon";
  /** The kind of product; null for a try-on. */
  subtype: "clothing" | "shoes" | "headwear" | null;
  /** The status, as the service shows it. */
  status: "queued" | "running" | "succeeded" | "failed";
  /** The product that it belongs to; null for none. A ULID: 26 characters. */
  product_id: string;
  /** When it began, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  started_at: string | null;
  /** When it ended, RFC 3339 in UTC; null before. RFC 3339, in UTC. */
  finished_at: string | null;
  /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
  created_at: string;
  /** When it runs, in milliseconds since 1970 (clock of the mock). */
  runs_at: number;
  /** When it ends, in milliseconds since 1970 (clock of the mock). */
  ends_at: number;
  /** The content of the image, fixed when the task is accepted. */
  scene: {
    /** The product. */
    garment: {
      /** The kind of garment that is drawn, or `scene`. */
      subject: "dress" | "top" | "coat" | "trousers" | "skirt" | "shoe" | "hat" | "bag" | "knit" | "person";
      /** Decides colors and pattern of what is drawn; a scene as JSON. */
      seed: string;
    };
    /** Your product code; null for a product of the dashboard. */
    reference: string;
    /** The background of the image. */
    background: string;
    /** The view of the product. */
    angle_shot: string;
    /** How clothing is shown; null for a try-on. */
    style: "ghost" | "flatlay" | null;
    /** Who wears the product; null for a product alone. */
    person: {
      /** The ID, a ULID. */
      id: string;
      /** The name; null for a model without one. */
      name: string | null;
      /** The sex of the model; null if unknown. */
      sex: string | null;
      /** The body type; null if unknown. */
      body_type: string | null;
      /** The age group; null if unknown. */
      age_bracket: string | null;
      /** The ethnicity; null if unknown. */
      ethnicity: string | null;
      /** The color of the hair; null if unknown. */
      hair_color: string | null;
      /** The color of the eyes; null if unknown. */
      eye_color: string | null;
    } | null;
    /** Whether the model looks at the camera. */
    look_at_camera: boolean;
    /** The other garments. */
    stylings: {
      /** The kind of garment that is drawn, or `scene`. */
      subject: "dress" | "top" | "coat" | "trousers" | "skirt" | "shoe" | "hat" | "bag" | "knit" | "person";
      /** Decides colors and pattern of what is drawn; a scene as JSON. */
      seed: string;
    }[];
    /** The consistency group: decides hair, pose and plain clothes. */
    group: string;
  };
  /** Other products that the model wears, each once. ULIDs: 26 characters each. */
  styling_product_ids: readonly string[];
  /** Why it will fail; null if it succeeds. */
  failure: {
    /** The code of the error. */
    code: string;
    /** The text of the error. */
    message: string;
  } | null;
  /** The ID of the generated image; null until it has succeeded. A ULID: 26 characters. */
  output_image_id: string | null;
}

/** A model of the organization, or a curated one that a test has set. */
export interface StateModel {
  /** The ID, a ULID. */
  id: string;
  /** The name; null for a model without one. */
  name: string | null;
  /** True for a curated model. */
  is_public: boolean;
  /** The sex of the model; null if unknown. */
  sex: "male" | "female" | "other" | null;
  /** The body type; null if unknown. */
  body_type: string | null;
  /** The age group; null if unknown. */
  age_bracket: string | null;
  /** The ethnicity; null if unknown. */
  ethnicity: string | null;
  /** The color of the hair; null if unknown. */
  hair_color: string | null;
  /** The color of the eyes; null if unknown. */
  eye_color: string | null;
  /** Whether it has a preview image. Default: true. */
  has_preview?: boolean | undefined;
}

/** An idempotency key with its stored response, which is replayed byte by byte. */
export interface StateIdempotencyKey {
  /** The key. 1 to 255 characters. */
  key: string;
  /** A digest of the first request; null if any request finds the key in use. */
  fingerprint: string | null;
  /** Time of the first request, in milliseconds since 1970 (clock of the mock). */
  at: number;
  /** The stored response; null if the request crashed before it was stored. */
  answer: {
    /** The status, as the service shows it. 200 to 499. */
    status: number;
    /** The body as sent; null without one. */
    body: string | null;
    /** Headers that only this response has. */
    headers?: Record<string, string> | undefined;
    /** Headers that a fault has set; null for one that it removed. */
    custom?: Record<string, string | null> | undefined;
  } | null;
}

/** An image on no product, which is cleaned up later. */
export interface StateUnlinkedImage {
  /** The ID of the image. */
  image_id: string;
  /** Since when, in milliseconds since 1970 (clock of the mock). */
  since: number;
}

/** An API key that differs from those of every mock. */
export interface StateKey {
  /** The key. */
  key: string;
  /** The organization of the key; null for a key that belongs to a user. */
  organization: "main" | "other" | null;
  /** Its scopes; null for all. */
  scopes:
    | (
        | "products:read"
        | "products:write"
        | "images:read"
        | "images:write"
        | "imports:read"
        | "imports:write"
        | "exports:read"
        | "exports:write"
        | "tasks:read"
        | "tasks:write"
        | "models:read"
        | "models:write"
        | "webhooks:read"
        | "webhooks:write"
      )[]
    | null;
  /** When it expires, RFC 3339 in UTC; null for never. RFC 3339, in UTC. */
  expires_at: string | null;
  /** When it was revoked, RFC 3339 in UTC; null if it was not. RFC 3339, in UTC. */
  revoked_at: string | null;
}

/** An event for one webhook, with the attempts to deliver it. */
export interface StateDelivery {
  /** The ID, a ULID. A ULID: 26 characters. */
  id: string;
  /** The organization of the webhook. */
  organization: "main" | "other";
  /** The ID of the webhook. A ULID: 26 characters. */
  webhook_id: string;
  /** The URL. */
  url: string;
  /** The payload, as it is sent. */
  event: {
    /** The ID, a ULID. */
    id: string;
    /** The type of the event. */
    type:
      | "task.succeeded"
      | "task.failed"
      | "import.completed"
      | "import.failed"
      | "export.completed"
      | "export.failed";
    /** When it was created, RFC 3339 in UTC. RFC 3339, in UTC. */
    created_at: string;
    /** The ID and status of the resource, by its kind. */
    data: Record<
      string,
      {
        /** The ID, a ULID. A ULID: 26 characters. */
        id: string;
        /** The status, as the service shows it. */
        status: string;
      }
    >;
  };
  /** `pending` until an attempt is accepted, or the last one has failed. */
  state: "pending" | "delivered" | "abandoned";
  /** Number of scheduled attempts made, or skipped because the webhook was paused. At most 6. */
  tries: number;
  /** When the next attempt is due, in milliseconds since 1970 (clock of the mock); null for none. */
  due: number | null;
  /** The latest attempts, including those of a resend. */
  attempts: {
    /** Start of the attempt, RFC 3339 in UTC. RFC 3339, in UTC. */
    at: string;
    /** The status of the response; null without a complete one. */
    status: number | null;
    /** Why there was no complete response; null otherwise. */
    error: "dns_failed" | "blocked_host" | "unreachable" | "connection_lost" | "timeout" | "ended" | null;
    /** The signature header, whether or not it was sent; empty if a fault removed it. */
    signature: string;
  }[];
}

/** All that one organization has. */
export interface StateOrganization {
  /** In order of creation, including deleted products. */
  products: StateProduct[];
  /** Uploaded and generated images. */
  images: StateImage[];
  /** Imports in order of creation. */
  imports: StateImport[];
  /** Export jobs in order of creation. */
  exports: StateExport[];
  /** Webhooks in order of creation. */
  webhooks: StateWebhook[];
  /** Tasks in order of creation. */
  tasks: StateTask[];
  /** Models of the organization, and curated ones that a test has set. */
  models: StateModel[];
  /** Remaining generations; null for no limit. */
  credits: number | null;
  /** Idempotency keys of the last 24 hours. */
  idempotency_keys: StateIdempotencyKey[];
  /** Images on no product, oldest first. */
  unlinked_images?: StateUnlinkedImage[] | undefined;
  /** The current window of the rate limit. */
  rate_window: {
    /** When the window began, in milliseconds since 1970 (clock of the mock). */
    started_at: number;
    /** Number of GET requests in it. */
    reads: number;
    /** Number of other requests in it. */
    writes: number;
  };
}

/** The complete state of a mock, as in GET /_mock/state. Start with one by the option `state`. */
export interface MockState {
  /** The version of this format. */
  version: 1;
  /** The time of the mock, RFC 3339 in UTC. RFC 3339, in UTC. */
  now: string;
  /** The secret of signed URLs and cursors. Not empty. */
  secret: string;
  /** Where the IDs of new objects continue. */
  ids: {
    /** The state of the random numbers. 4 to 4 entries. */
    random: [number, number, number, number];
    /** The time part of the next ID; null for that of the clock. At most 280,474,976,710,656. */
    time: number | null;
  };
  /** The data of each organization. */
  organizations: {
    /** The organization of `ak_mock`. */
    main: StateOrganization;
    /** The organization of `ak_mock_other`. */
    other: StateOrganization;
  };
  /** True for a copy of a real catalogue: `keys` has all its API keys, and none is public. */
  real_data?: true | undefined;
  /** API keys that differ from those of every mock. */
  keys?: StateKey[] | undefined;
  /** Deliveries of events, oldest first. */
  deliveries: StateDelivery[];
}
