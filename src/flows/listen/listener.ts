import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { Post, PostOutcome } from "../../http/post.ts";
import type { State } from "../../state/state.ts";
import type { Deliveries, ListenView } from "./deliveries.ts";
import type { Delivery, EventPattern, Handler, HandlerResponse } from "./forward.ts";
import type { NamedEvent, UnacceptedEvents } from "./log-lines.ts";
import type { PollHandler } from "./poller.ts";
import type { RegisteredWebhook, WebhookFault } from "./registration.ts";

export type EventSource =
  /** A webhook that exists. */
  | { readonly kind: "secret"; readonly secret: string }
  | OwnWebhook
  /** No webhook: events are made from what polling finds, and signed with the secret. */
  | { readonly kind: "poll"; readonly secret: string; readonly service: ListenService };

/** A webhook that the listener creates. */
export interface OwnWebhook {
  readonly kind: "webhook";
  /** Null for the address of the listener itself. */
  readonly publicUrl: string | null;
  /** The secret that handlers check, with which deliveries are signed again; null for that of the webhook. */
  readonly secret: string | null;
  readonly keeps: boolean;
  readonly service: ListenService;
}

/** The service, for a listener that registers itself or polls. */
export interface ListenService {
  readonly client: Client;
  readonly state: State;
  readonly baseUrl: string;
  readonly keyFingerprint: string;
  readonly concurrency: number;
}

export interface ListenInput {
  readonly source: EventSource;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The absolute path of the event log. */
  readonly logPath: string;
  readonly handlers: readonly Handler[];
  /** The events to show and to forward; null for all. */
  readonly events: EventPattern | null;
  /** The events of which the listener awaits one; null if it does not wait. */
  readonly awaited: EventPattern | null;
  readonly headerName: string;
  readonly toleranceSeconds: number;
}

export interface ListenHost {
  readonly clock: Clock;
  readonly pid: number;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly send: (post: Post) => Promise<PostOutcome>;
  readonly view: ListenView;
  readonly onNote: (sentence: string) => void;
  /** Receives the events of the last day that a handler has not accepted; they are not forwarded for that. */
  readonly onUnaccepted: (events: UnacceptedEvents) => void;
  /** Called once, when events can come. */
  readonly onListening: (listening: OpenListener) => Promise<void>;
  readonly onPoll?: PollHandler;
  /** The webhook of the listener and its secret, also one that replaces it; null once deleted or left. */
  readonly onWebhook?: (webhook: RegisteredWebhook | null) => void;
  /** The error that a fault of its webhook ends the listener with; null to keep listening. */
  readonly endsBy?: (fault: WebhookFault, webhookId: string) => Error | null;
}

export interface OpenListener {
  /** The address of the listener, or of its public side; null when polling. */
  readonly url: string | null;
  readonly webhookId: string | null;
  readonly secret: string;
  /** Sends an event to its handlers again, signed afresh. Resolves to their responses. */
  readonly resend: (event: NamedEvent, delivery: Delivery) => Promise<HandlerResponse[]>;
  /** Reads the webhook of the listener at once, and reacts to a fault. */
  readonly checkWebhook?: () => Promise<void>;
}

export interface RunningListener extends ListenHost {
  readonly deliveries: Deliveries;
  readonly fail: (error: unknown) => void;
}
