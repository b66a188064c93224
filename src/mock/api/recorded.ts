import type { StateDelivery } from "./state.ts";

/** One received request, as GET /_mock/requests shows it. */
export interface RecordedRequest {
  /** Time of arrival, RFC 3339. */
  at: string;
  /** The method, in upper case. */
  method: string;
  /** The path with its query, as sent. */
  path: string;
  /** Null while the request runs, and if the client disconnected before the response. */
  status: number | null;
  /** The `X-Request-Id` of the response. */
  request_id: string;
  /** The idempotency key, or null. */
  idempotency_key: string | null;
  /** Whether the stored response of an idempotency key was replayed. */
  replayed: boolean;
  /** As sent, with the API key masked. */
  headers: Record<string, string>;
  /** The numbers of the faults that acted on it. */
  faults: number[];
  /** The body; missing unless bodies are kept. Null without one, or if it was not read. */
  body?: RecordedBody | null;
  /** The response; missing unless bodies are kept. Null while the request runs, and for a lost response. */
  response?: RecordedResponse | null;
}

/** The response to a logged request. */
export interface RecordedResponse {
  /** Headers by name in lower case. */
  headers: Record<string, string>;
  /** The body; null without one. */
  body: RecordedBody | null;
  /** Real milliseconds from the arrival of the request to the start of the response. */
  duration_ms: number;
}

/** A request and its response in short, for `onRequest`. */
export interface ServedRequest {
  /** The method, in upper case. */
  method: string;
  /** The path with its query, as sent; signatures are not masked. */
  path: string;
  /** Null for a connection that was cut. */
  status: number | null;
  /** The `X-Request-Id` of the response. */
  request_id: string;
  /** Whether the stored response of an idempotency key was replayed. */
  replayed: boolean;
  /** From the arrival to the start of the response, on the mock's clock. */
  ms: number;
}

/** The body of a logged request or response, as text. */
export interface RecordedBody {
  /** The text, or base64 of bytes that are not UTF-8; cut after 64 kB. */
  content: string;
  /** How `content` is written. */
  encoding: "utf8" | "base64";
  /** The size as sent. */
  bytes: number;
  /** Why the content is not complete; missing if it is. */
  note?: string;
}

/** A delivery as GET /_mock/deliveries shows it. */
export interface RecordedDelivery {
  /** The ID of the delivery, for a resend. */
  id: string;
  /** The ID of the event, the same in every attempt. */
  event_id: string;
  /** The type of the event. */
  type: string;
  /** The ID of the webhook. */
  webhook_id: string;
  /** Where it is sent. */
  url: string;
  /** `pending` until an attempt is accepted, or the last one has failed. */
  state: StateDelivery["state"];
  /** The latest attempts, oldest first. */
  attempts: StateDelivery["attempts"];
  /** RFC 3339; null when no attempt is scheduled. */
  next_attempt_at: string | null;
  /** The payload, as it is sent. */
  event: StateDelivery["event"];
}
