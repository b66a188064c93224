// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { EventType } from "../../contract/value-sets.ts";
import type { CallOptions, Entries, JsonBody, ListOptions, Page } from "./calls.ts";

/** A webhook with its signing_secret, which is shown only once. Specification: Endpoints, Webhooks. */
export interface WebhookWithSecret extends Webhook {
  /** The secret of its signatures, including whsec_. Shown only once. */
  signing_secret: string;
}

/** A subscription to events. Specification: Resources and their fields, Webhook. */
export interface Webhook {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** Where events are delivered. It cannot be changed. A URL. */
  url: string;
  /** The types of events that are delivered. */
  events: EventType[];
  /** active; paused by you; disabled by the service. */
  status: "active" | "paused" | "disabled";
  /** A note for people; null without one. */
  description: string | null;
  /** When an event was last delivered; null before the first. RFC 3339, in UTC. */
  last_delivery_at: string | null;
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
}

/**
 * A webhook. After a rotation it includes the new signing_secret, which is shown only once. Specification:
 * Endpoints, Webhooks.
 */
export interface WebhookMaybeWithSecret extends Webhook {
  /** The secret of its signatures, including whsec_. Shown only once. */
  signing_secret?: string;
}

/** The URL is checked once, at creation, and cannot be changed later. Specification: Endpoints, Webhooks. */
export interface WebhookToCreate {
  /** A public https URL on the default port, without credentials. */
  url: string;
  /** The types of events to deliver, at least one. At least one entry. */
  events: readonly EventType[];
  /** A note for people. At most 2,000 characters (Limits). */
  description?: string | undefined;
}

/** The fields to change; absent fields keep their value. Specification: Endpoints, Webhooks. */
export interface WebhookPatch {
  /** The types of events to deliver, at least one. At least one entry. */
  events?: readonly EventType[] | undefined;
  /** paused stops deliveries; active resumes them. */
  status?: "active" | "paused" | undefined;
  /** A note for people; null removes it. At most 2,000 characters (Limits). */
  description?: string | null | undefined;
  /** True creates a new secret; the old one stops working immediately. */
  rotate_secret?: boolean | undefined;
}

/** The input of `client.webhooks.create`. */
export type WebhooksCreateInput = JsonBody<WebhookToCreate>;

/** The input of `client.webhooks.list`. */
export interface WebhooksListInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
}

/** The input of `client.webhooks.get`. */
export interface WebhooksGetInput {
  /** The ID of a webhook. */
  webhook_id: string;
}

/** The input of `client.webhooks.update`. */
export type WebhooksUpdateInput = WebhooksGetInput & JsonBody<WebhookPatch>;

/** The input of `client.webhooks.delete`. */
export type WebhooksDeleteInput = WebhooksGetInput;

/** Subscriptions to signed events. Specification: Endpoints, Webhooks. */
export interface WebhooksApi {
  /**
   * Create a webhook; its secret is shown only once. `POST /v1/webhooks` with the scope `webhooks:write`
   * (Endpoints, Webhooks).
   * @throws {ApiError} the errors of every request (see `ErrorCode`).
   */
  create(input: WebhooksCreateInput, options?: CallOptions): Promise<WebhookWithSecret>;

  /**
   * List webhooks. `GET /v1/webhooks` with the scope `webhooks:read` (Endpoints, Webhooks).
   * @throws {ApiError} 400 `invalid_cursor`, the errors of every request (see `ErrorCode`).
   */
  list(input?: WebhooksListInput, options?: CallOptions): Promise<Page<Webhook>>;

  /** All entries of `list`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  listAll(input?: WebhooksListInput, options?: ListOptions): Entries<Webhook>;

  /**
   * Get a webhook. `GET /v1/webhooks/{webhook_id}` with the scope `webhooks:read` (Endpoints, Webhooks).
   * @throws {ApiError} 404 `webhook_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: WebhooksGetInput, options?: CallOptions): Promise<Webhook>;

  /**
   * Change a webhook or rotate its secret. `PATCH /v1/webhooks/{webhook_id}` with the scope `webhooks:write`
   * (Endpoints, Webhooks).
   * @throws {ApiError} 404 `webhook_not_found`, the errors of every request (see `ErrorCode`).
   */
  update(input: WebhooksUpdateInput, options?: CallOptions): Promise<WebhookMaybeWithSecret>;

  /**
   * Delete a webhook. `DELETE /v1/webhooks/{webhook_id}` with the scope `webhooks:write` (Endpoints, Webhooks).
   * @throws {ApiError} 404 `webhook_not_found`, the errors of every request (see `ErrorCode`).
   */
  delete(input: WebhooksDeleteInput, options?: CallOptions): Promise<null>;
}
