import { monotonicFactory } from "ulid";
import type { DeliveredEvent } from "../../client/webhook-delivery.ts";
import { limits } from "../../contract/limits.ts";
import { signDelivery } from "../../contract/signature.ts";
import { signatureHeader } from "../../contract/signature-header.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { Post, PostFailure, PostOutcome } from "../../http/post.ts";

interface SampleSource {
  /** The time of the events, in Unix milliseconds. */
  readonly now: () => number;
  /** A random number from 0 to 1, for the IDs. */
  readonly random: () => number;
}

/** Fixed IDs of a sample: an event ID (`evt_…`), or the ID of its task, import or export. */
export interface SampleIds {
  readonly eventId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** Creates events as the service delivers them (Events, Delivery), about resources that do not exist. */
export function sampleEvents({ now, random }: SampleSource) {
  const newId = monotonicFactory(random);
  return (type: EventType, { eventId, resourceId }: SampleIds = {}): DeliveredEvent => {
    const [resource, status] = type.split(".") as [string, string];
    return {
      id: eventId ?? `evt_${newId(now())}`,
      type,
      created_at: new Date(now()).toISOString(),
      data: { [resource]: { id: resourceId ?? newId(now()), status } },
    } as DeliveredEvent;
  };
}

export interface DeliveryTarget {
  readonly url: URL;
  /** The complete signing secret. */
  readonly secret: string;
  /** The name of the signature header (default: `Service-Signature`). */
  readonly headerName?: string | undefined;
  readonly send: (post: Post) => Promise<PostOutcome>;
  readonly now: () => number;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

/** Deviations from a genuine delivery, to test a handler. */
interface Deviation {
  /** Seconds by which the timestamp is older than now. */
  readonly ageSeconds?: number;
  /** A signature header to send instead of the genuine one; null sends none. */
  readonly header?: string | null;
  readonly pieces?: (body: Buffer) => AsyncIterable<Uint8Array>;
}

/** Signs an event and sends it once, as the service does (Events, Delivery and Signature). */
export function sendDelivery(
  { url, secret, headerName = signatureHeader, send, now, userAgent, signal }: DeliveryTarget,
  text: string,
  { ageSeconds = 0, header, pieces }: Deviation = {},
): Promise<PostOutcome> {
  const body = Buffer.from(text);
  const signed = signDelivery(secret, body, Math.floor(now() / 1000) - ageSeconds);
  const value = header === undefined ? signed : header;
  return send({
    url,
    headers: [
      ["content-type", "application/json"],
      ["user-agent", userAgent],
      ...(value === null ? [] : [[headerName, value] as const]),
    ],
    body: pieces === undefined ? body : pieces(body),
    timeoutMs: limits.webhookTimeoutMs,
    signal,
  });
}

export interface TortureResult {
  /** The kind of delivery, e.g. `duplicate`. */
  readonly name: string;
  /** The reaction of a good handler, as a phrase. */
  readonly expected: string;
  /** The statuses that the handler returned, or why it returned none. */
  readonly responses: readonly string[];
  readonly ok: boolean;
  /** Why the responses are wrong, and what to do, in sentences; missing if they are not. */
  readonly why?: string;
  readonly failure?: PostFailure;
  readonly hint?: string | undefined;
}

interface TortureInput {
  readonly type: EventType;
  readonly makeEvent: (type: EventType, ids?: SampleIds) => DeliveredEvent;
  readonly target: DeliveryTarget;
  readonly sleep: (ms: number) => Promise<void>;
}

/** How a good handler treats a genuine, forged, stale or huge delivery; of the last, any end is fine. */
const phrases = { accept: "2xx", reject: "4xx", end: "2xx, 4xx or closed" } as const;

/** The duration of a slow body: well within the time that a handler has (Retries 1). */
const slow = { pieces: 10, pauseMs: 300 };
/** The padding of a huge event, in bytes. */
const hugeBytes = 5_000_000;

/** Sends difficult and forged deliveries by kind; the last is genuine again: the handler must still work. */
export async function* torture(input: TortureInput): AsyncGenerator<TortureResult> {
  for (const [name, expectation, deliveries, why] of tortureCases(input)) {
    const outcomes: PostOutcome[] = [];
    for (const [text, deviation] of deliveries)
      outcomes.push(await sendDelivery(input.target, text, deviation));
    const unanswered = outcomes.find((outcome) => outcome.status === null);
    const ok = outcomes.every((outcome) => isExpected(expectation, outcome));
    yield {
      name,
      expected: phrases[expectation],
      responses: outcomes.map((outcome) => (outcome.status === null ? outcome.why : String(outcome.status))),
      ok,
      ...(!ok && { why }),
      ...(unanswered?.status === null && { failure: unanswered.failure, hint: unanswered.hint }),
    };
  }
}

/** A long body may be rejected by closing the connection, before the sender can read a response. */
function isExpected(expectation: keyof typeof phrases, outcome: PostOutcome): boolean {
  if (outcome.status === null) return expectation === "end" && outcome.failure === "closed";
  const { status } = outcome;
  const isSuccess = status >= 200 && status < 300;
  const isRejection = status >= 400 && status < 500;
  if (expectation === "accept") return isSuccess;
  return isRejection || (expectation === "end" && isSuccess);
}

type TortureCase = [
  name: string,
  expectation: keyof typeof phrases,
  deliveries: readonly [text: string, deviation?: Deviation][],
  why: string,
];

const verdictReasons = {
  genuine:
    "The service sends this. Check that the handler has the complete CAT_WEBHOOK_SECRET, and signs the bytes as they arrived.",
  duplicate:
    "The service sends an event again until it gets a 2xx. Respond 2xx to an ID that was handled before.",
  order: "Events can arrive in any order. Fetch the resource for its status, and respond 2xx.",
  type: "The service can add types. Respond 2xx, and ignore the event.",
  slow: "A body can arrive in pieces, over some seconds. Read it to its end before checking it.",
  unsigned: "Anyone can send this. Respond 400 if the header is missing.",
  forged: "Anyone can send this. Compare the signature with one of your own, and respond 400.",
  stale: "A recorded delivery can be sent again. Respond 400 to a signature older than 300 seconds.",
  huge: "Anyone can send this. Keep no more than 1 MB of it, and respond 413.",
  again: "The handler does not work any more after the deliveries before. Look into its log.",
};

function tortureCases({ type, makeEvent, target, sleep }: TortureInput): readonly TortureCase[] {
  const event = (changed: object = {}) => JSON.stringify({ ...makeEvent(type), ...changed });
  const repeated = event();
  const [older, newer] = [event(), event()];
  const forged = `t=${Math.floor(target.now() / 1000)},v1=${"0".repeat(64)}`;
  return [
    ["genuine", "accept", [[event()]], verdictReasons.genuine],
    ["duplicate", "accept", [[repeated], [repeated]], verdictReasons.duplicate],
    ["out of order", "accept", [[newer], [older]], verdictReasons.order],
    ["new event type", "accept", [[event({ type: "product.reviewed" })]], verdictReasons.type],
    ["slow body", "accept", [[event(), { pieces: (body) => inPieces(body, sleep) }]], verdictReasons.slow],
    ["no signature", "reject", [[event(), { header: null }]], verdictReasons.unsigned],
    [
      "forged signature",
      "reject",
      [forged, "garbage"].map((header) => [event(), { header }]),
      verdictReasons.forged,
    ],
    ["stale timestamp", "reject", [[event(), { ageSeconds: 3_600 }]], verdictReasons.stale],
    ["huge body", "end", [[event({ padding: "x".repeat(hugeBytes) })]], verdictReasons.huge],
    ["genuine again", "accept", [[event()]], verdictReasons.again],
  ];
}

async function* inPieces(
  body: Buffer,
  sleep: TortureInput["sleep"],
): AsyncGenerator<Uint8Array, void, undefined> {
  const size = Math.ceil(body.length / slow.pieces);
  for (let at = 0; at < body.length; at += size) {
    if (at > 0) await sleep(slow.pauseMs);
    yield body.subarray(at, at + size);
  }
}
