import { type Deliveries, isProblem, readDelivery } from "./deliveries.ts";
import { matchingTypes } from "./forward.ts";
import { seeEnded } from "./leftover.ts";
import type { ListenInput, OpenListener, OwnWebhook, RunningListener } from "./listener.ts";
import { openReceiver, type ReceivedRequest } from "./receiver.ts";
import { ListenerWebhook } from "./registration.ts";
import { resender, signedAgain } from "./sign-again.ts";
import { watchWebhook } from "./watch-webhook.ts";

/** Receives deliveries of a webhook that exists, or of its own, until the signal. */
export async function receive(
  input: ListenInput,
  source: OwnWebhook | { readonly kind: "secret"; readonly secret: string },
  listener: RunningListener,
): Promise<void> {
  const secrets = new Secrets();
  const receiver = await openReceiver({
    ...input,
    answer: (request) => respond(request, input, listener, secrets),
    onProblem: (sentence) => listener.view.onProblem(sentence),
  });
  const local = `http://${toUrlHost(input.host)}:${receiver.port}${input.path}`;
  const place = { url: (source.kind === "webhook" && source.publicUrl) || local, secrets };
  try {
    if (source.kind === "webhook") await receiveWithOwnWebhook(input, source, listener, place);
    else await start(input, listener, place, { webhookId: null, secret: source.secret }, source.secret);
  } finally {
    secrets.release();
    await receiver.close();
  }
}

interface Address {
  readonly url: string;
  readonly secrets: Secrets;
}

/** Listens until the signal. `secret` is that of the webhook; handlers may check another one. */
async function start(
  { headerName }: ListenInput,
  { onListening, deliveries, clock, signal }: RunningListener,
  { url, secrets }: Address,
  listening: Pick<OpenListener, "webhookId" | "secret" | "checkWebhook">,
  secret: string,
): Promise<void> {
  const resend = resender(deliveries, listening.secret, { headerName, clock });
  await onListening({ url, resend, ...listening });
  secrets.start({ webhook: secret, handlers: listening.secret });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function receiveWithOwnWebhook(
  input: ListenInput,
  source: OwnWebhook,
  listener: RunningListener,
  place: Address,
): Promise<void> {
  const { view, signal, deliveries, onWebhook } = listener;
  const registration = new ListenerWebhook({
    ...source.service,
    ...listener,
    keeps: source.keeps,
    awaited: input.awaited === null ? null : matchingTypes(input.awaited),
    onProblem: view.onProblem,
  });
  const events = matchingTypes(input.events ?? ["*"]);
  try {
    const webhook = await registration.register(place.url, events);
    onWebhook?.(webhook);
    const checkWebhook = watchWebhook(webhook, {
      ...listener,
      onProblem: view.onProblem,
      read: (patience) => registration.check(patience),
      async registerAgain() {
        const again = await registration.registerAgain(place.url, events);
        place.secrets.replace(again.secret);
        onWebhook?.(again);
        return again;
      },
    });
    const secret = source.secret ?? webhook.secret;
    await start(input, listener, place, { webhookId: webhook.id, secret, checkWebhook }, webhook.secret);
  } catch (error) {
    // Stopped while registering.
    if (!signal.aborted) throw error;
  } finally {
    const isDeleted = await registration.end();
    onWebhook?.(null);
    if (isDeleted && deliveries.unaccepted > 0) view.onProblem(...abandonedNote(deliveries));
  }
}

/** The secret of the webhook, and the one that handlers check, which stays the same. */
interface SecretPair {
  readonly webhook: string;
  readonly handlers: string;
}

/** The secrets of a listener, for deliveries that may come before it has started. */
class Secrets {
  #pair: SecretPair | null = null;
  #onStarted!: () => void;
  readonly #started = new Promise<void>((resolve) => {
    this.#onStarted = resolve;
  });

  start(pair: SecretPair): void {
    this.#pair = pair;
    this.#onStarted();
  }

  replace(webhook: string): void {
    if (this.#pair !== null) this.#pair = { ...this.#pair, webhook };
  }

  /** Ends the wait of deliveries, also if the listener never started. */
  release(): void {
    this.#onStarted();
  }

  /** Waits for the start; null if the listener ended before. */
  async known(): Promise<SecretPair | null> {
    if (this.#pair === null) await this.#started;
    return this.#pair;
  }
}

async function respond(
  { headers, rawHeaders, body }: ReceivedRequest,
  input: ListenInput,
  { clock, view, deliveries }: RunningListener,
  secrets: Secrets,
) {
  // The service may deliver before it has responded to the registration. Missed events are shown first.
  const pair = await secrets.known();
  if (pair === null) return { status: 503, text: "not listening yet" };
  const given = headers[input.headerName.toLowerCase()];
  const header = Array.isArray(given) ? given.join(", ") : given;
  const event = readDelivery(header, body, { ...input, secret: pair.webhook, now: clock.now() });
  if (isProblem(event)) {
    view.onProblem(event.message, event.hint);
    return { status: 400, text: event.message };
  }
  const delivery = { rawHeaders, body };
  const isSame = pair.handlers === pair.webhook;
  const signer = { headerName: input.headerName, clock };
  const forwarded = isSame ? delivery : signedAgain(delivery, pair.handlers, signer);
  const signature = isSame ? header! : forwarded.rawHeaders.at(-1)!;
  const status = await deliveries.accept(event, forwarded, { header: signature });
  return { status, text: sentences[status] };
}

const sentences = {
  200: "ok",
  500: "the event could not be written to the log",
  502: "a handler did not accept the event",
} as const;

/** Says what the end of its webhook means for events that the service would have sent again. */
const abandonedNote = ({ unaccepted }: Deliveries): [message: string, hint: string] => [
  `${unaccepted === 1 ? "1 event was" : `${unaccepted} events were`} not accepted; the service does not send ${unaccepted === 1 ? "it" : "them"} again, because the webhook was deleted`,
  `Send events of the log with cat webhooks replay --failed. ${seeEnded}`,
];

/** The host under which this machine reaches the listener. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
