import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { signDelivery } from "../../contract/signature.ts";
import type { Post, PostOutcome } from "../../http/post.ts";
import type { State } from "../../state/state.ts";
import type { ListenView } from "./deliveries.ts";
import { Deliveries, isProblem, readDelivery } from "./deliveries.ts";
import { EventLog } from "./event-log.ts";
import type { Delivery, EventPattern, Handler, HandlerResponse } from "./forward.ts";
import { matchingTypes } from "./forward.ts";
import type { EventLine, UnacceptedEvents } from "./log-lines.ts";
import { Poller, type PollHandler, syntheticEvent } from "./poller.ts";
import { openReceiver, type ReceivedRequest } from "./receiver.ts";
import { openRegistration, type RegisteredWebhook, seeEnded, type WebhookFault } from "./registration.ts";
import { watchWebhook } from "./watch-webhook.ts";

/** Where events come from. */
export type EventSource =
  /** A webhook that exists. */
  | { readonly kind: "secret"; readonly secret: string }
  | OwnWebhook
  /** No webhook: events are made from what polling finds, and signed with the secret. */
  | { readonly kind: "poll"; readonly secret: string; readonly service: ListenService };

/** A webhook that the listener creates. */
interface OwnWebhook {
  readonly kind: "webhook";
  /** Null for the address of the listener itself. */
  readonly publicUrl: string | null;
  /** The secret that handlers check, with which deliveries are signed again; null for that of the webhook. */
  readonly secret: string | null;
  /** Whether the webhook stays at the end. */
  readonly keeps: boolean;
  readonly service: ListenService;
}

/** The service, for a listener that registers itself or polls. */
export interface ListenService {
  readonly client: Client;
  readonly state: State;
  readonly baseUrl: string;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  /** The maximum number of requests in flight. */
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
  /** Ends the listener. */
  readonly signal: AbortSignal;
  /** Sends one request to a handler. */
  readonly send: (post: Post) => Promise<PostOutcome>;
  readonly view: ListenView;
  /** Receives a sentence for people. */
  readonly onNote: (sentence: string) => void;
  /** Receives the events of the last day that a handler has not accepted; none of them is forwarded for that. */
  readonly onUnaccepted: (events: Pick<UnacceptedEvents, "count" | "urls">) => void;
  /** Called once, when events can come. */
  readonly onListening: (listening: OpenListener) => Promise<void>;
  /** For each poll of a listener that polls. */
  readonly onPoll?: PollHandler;
  /** The webhook of the listener and its secret, also one that replaces it; null once it was deleted, or left. */
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
  readonly resend: (event: Pick<EventLine, "id" | "type">, delivery: Delivery) => Promise<HandlerResponse[]>;
  /** Reads the webhook of the listener at once, and reacts to a fault. */
  readonly checkWebhook?: () => Promise<void>;
}

/** How long a listener reports events that a handler has not accepted, in milliseconds: a day. */
const unacceptedMs = 86_400_000;

/** A `resend` of `Listening`: the original signature would be too old for a handler. */
const resender =
  (deliveries: Deliveries, secret: string, headerName: string, clock: Clock): OpenListener["resend"] =>
  (event, delivery) =>
    deliveries.resend(event, signedAgain(delivery, secret, headerName, clock));

/** A delivery with another signature, made now, in its last header. */
function signedAgain(
  { rawHeaders, body }: Delivery,
  secret: string,
  headerName: string,
  clock: Clock,
): Delivery {
  const header = signDelivery(secret, body, Math.floor(clock.now() / 1000));
  const others = rawHeaders.filter(
    (_, at) => rawHeaders[at - (at % 2)]!.toLowerCase() !== headerName.toLowerCase(),
  );
  return { rawHeaders: [...others, headerName, header], body };
}

/**
 * Receives events until the signal, whose reason does not matter here. Throws a CatError if it cannot listen,
 * register or poll. Deliveries in progress are responded to before it ends, and its webhook is deleted or
 * kept.
 */
export async function listen(input: ListenInput, deps: ListenHost): Promise<void> {
  const log = await EventLog.open(input.logPath);
  try {
    const stop = new AbortController();
    const signal = AbortSignal.any([deps.signal, stop.signal]);
    const deliveries = new Deliveries({
      log,
      handlers: input.handlers,
      shown: input.events,
      view: deps.view,
      clock: deps.clock,
      send: deps.send,
      mask: (text) => ("service" in input.source ? input.source.service.client.withoutKey(text) : text),
      onViewFailed: (error) => stop.abort(error),
    });
    const onStop = () => {
      const { waiting } = deliveries;
      const who = waiting === 1 ? "a handler" : `${waiting} handlers`;
      if (waiting > 0) deps.onNote(`Waiting for ${who} to respond (10 seconds at most).`);
    };
    signal.addEventListener("abort", onStop, { once: true });
    const onListening = async (listening: OpenListener) => {
      await deps.onListening(listening);
      const unaccepted = log.takeUnaccepted();
      unaccepted.forgetBefore(deps.clock.now() - unacceptedMs);
      if (unaccepted.count > 0 && input.handlers.length > 0) deps.onUnaccepted(unaccepted);
      await deliveries.showMissed(log.takeUnshown(), input.headerName);
    };
    const more = { ...deps, signal, onListening, fail: (error: unknown) => stop.abort(error) };
    if (input.source.kind === "poll") await poll(input, input.source, more, deliveries, log);
    else await receive(input, input.source, more, deliveries);
    if (stop.signal.aborted) throw stop.signal.reason;
  } finally {
    await log.close();
  }
}

/** Says what the end of its webhook means for events that the service would have sent again. */
const abandonedNote = ({ unaccepted }: Deliveries): [message: string, hint: string] => [
  `${unaccepted === 1 ? "1 event was" : `${unaccepted} events were`} not accepted; the service does not send ${unaccepted === 1 ? "it" : "them"} again, because the webhook was deleted`,
  `Send events of the log with cat webhooks replay --failed. ${seeEnded}`,
];

async function receive(
  input: ListenInput,
  source: Exclude<EventSource, { kind: "poll" }>,
  deps: ListenHost & { readonly fail: (error: unknown) => void },
  deliveries: Deliveries,
): Promise<void> {
  const { clock, view, signal } = deps;
  /** The secret of the webhook, and the one that handlers check, which stays the same. */
  let secret: string | null = null;
  let ofHandlers: string | null = null;
  let onStarted!: () => void;
  const started = new Promise<void>((resolve) => {
    onStarted = resolve;
  });
  const start = async (listening: OpenListener, ofWebhook = listening.secret) => {
    await deps.onListening(listening);
    secret = ofWebhook;
    ofHandlers = listening.secret;
    onStarted();
  };
  const answer = async ({ headers, rawHeaders, body }: ReceivedRequest) => {
    // The service may deliver before it has responded to the registration. Events that were missed are shown
    // first.
    if (secret === null) await started;
    if (secret === null || ofHandlers === null) return { status: 503, text: "not listening yet" };
    const given = headers[input.headerName.toLowerCase()];
    const header = Array.isArray(given) ? given.join(", ") : given;
    const event = readDelivery(header, body, { ...input, secret, now: clock.now() });
    if (isProblem(event)) {
      view.onProblem(event.message, event.hint);
      return { status: 400, text: event.message };
    }
    const delivery = { rawHeaders, body };
    const isOther = ofHandlers !== secret;
    const forwarded = isOther ? signedAgain(delivery, ofHandlers, input.headerName, clock) : delivery;
    const signature = isOther ? forwarded.rawHeaders.at(-1)! : header!;
    const status = await deliveries.take(event, forwarded, { header: signature });
    return { status, text: sentences[status] };
  };
  const receiver = await openReceiver({
    ...input,
    answer,
    onProblem: (sentence) => view.onProblem(sentence),
  });
  const local = `http://${toUrlHost(input.host)}:${receiver.port}${input.path}`;
  const url = (source.kind === "webhook" && source.publicUrl) || local;
  try {
    if (source.kind === "secret") {
      const resend = resender(deliveries, source.secret, input.headerName, clock);
      await start({ url, webhookId: null, secret: source.secret, resend });
      await aborted(signal);
      return;
    }
    const registration = openRegistration({
      ...source.service,
      ...deps,
      keeps: source.keeps,
      awaited: input.awaited === null ? null : matchingTypes(input.awaited),
      onProblem: view.onProblem,
    });
    const events = matchingTypes(input.events ?? ["*"]);
    try {
      const webhook = await registration.register(url, events);
      deps.onWebhook?.(webhook);
      const checkWebhook = watchWebhook(webhook, {
        ...deps,
        onProblem: view.onProblem,
        read: (patience) => registration.check(patience),
        async registerAgain() {
          const again = await registration.registerAgain(url, events);
          ({ secret } = again);
          deps.onWebhook?.(again);
          return again;
        },
      });
      const forHandlers = source.secret ?? webhook.secret;
      const resend = resender(deliveries, forHandlers, input.headerName, clock);
      await start({ url, webhookId: webhook.id, secret: forHandlers, resend, checkWebhook }, webhook.secret);
      await aborted(signal);
    } catch (error) {
      // Stopped while registering.
      if (!signal.aborted) throw error;
    } finally {
      const isDeleted = await registration.end();
      deps.onWebhook?.(null);
      if (isDeleted && deliveries.unaccepted > 0) view.onProblem(...abandonedNote(deliveries));
    }
  } finally {
    onStarted();
    await receiver.close();
  }
}

async function poll(
  input: ListenInput,
  { secret, service }: Extract<EventSource, { kind: "poll" }>,
  deps: ListenHost,
  deliveries: Deliveries,
  log: EventLog,
): Promise<void> {
  const { clock, signal, view, onListening } = deps;
  const poller = new Poller({
    service: { client: service.client, concurrency: service.concurrency, clock, signal },
    state: service.state,
    baseUrl: service.baseUrl,
    log: { path: input.logPath, isNew: log.isNew, isKnown: (id) => log.isKnown(id) },
    onEnded(job) {
      const event = syntheticEvent(job, clock.now());
      const body = Buffer.from(JSON.stringify(event));
      const header = signDelivery(secret, body, Math.floor(clock.now() / 1000));
      const rawHeaders = ["Content-Type", "application/json", input.headerName, header];
      return deliveries.take(event, { rawHeaders, body }, { header, synthetic: true });
    },
    onProblem: view.onProblem,
    onPoll: deps.onPoll,
  });
  try {
    const resend = resender(deliveries, secret, input.headerName, clock);
    await poller.run(() => onListening({ url: null, webhookId: null, secret, resend }));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const sentences = {
  200: "ok",
  500: "the event could not be written to the log",
  502: "a handler did not accept the event",
} as const;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The host under which this machine reaches the listener. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
