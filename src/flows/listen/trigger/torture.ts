import type { DeliveredEvent } from "../../../client/verify-webhook.ts";
import type { EventType } from "../../../contract/value-sets.ts";
import type { PostFailure, PostOutcome } from "../../../http/post.ts";
import { type DeliveryTarget, type Deviation, deliver } from "./deliver.ts";
import type { SampleIds } from "./sample-event.ts";

/** The result of one kind of difficult delivery. */
export interface TortureResult {
  /** The kind of delivery, e.g. `duplicate`. */
  readonly name: string;
  /** What a good handler does, as a phrase. */
  readonly expected: string;
  /** The statuses that the handler returned, or why it returned none. */
  readonly responses: readonly string[];
  readonly ok: boolean;
  /** Why a delivery got no response. */
  readonly failure?: PostFailure;
}

export interface TortureInput {
  readonly type: EventType;
  readonly makeEvent: (type: EventType, ids?: SampleIds) => DeliveredEvent;
  readonly target: DeliveryTarget;
  /** Waits between the pieces of a slow body. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** A delivery is genuine (`accept`), forged or stale (`reject`), or so large that any end is fine (`end`). */
type Expectation = "accept" | "reject" | "end";

interface TortureCase {
  readonly name: string;
  readonly expectation: Expectation;
  deliveries(): readonly (readonly [text: string, deviation?: Deviation])[];
}

const phrases: Readonly<Record<Expectation, string>> = {
  accept: "2xx",
  reject: "4xx",
  end: "2xx, 4xx or closed",
};

/** The duration of a slow body: well within the time that a handler has (Retries 1). */
const slow = { pieces: 10, pauseMs: 300 };
/** The padding of a huge event, in bytes. */
const hugeBytes = 5_000_000;

/**
 * Sends what happens to a handler sooner or later, and what an attacker sends, one kind after the other. The last
 * delivery is genuine again: the handler must still work.
 */
export async function* torture(input: TortureInput): AsyncGenerator<TortureResult> {
  for (const one of casesOf(input)) {
    const outcomes: PostOutcome[] = [];
    for (const [text, deviation] of one.deliveries())
      outcomes.push(await deliver(input.target, text, deviation));
    yield {
      name: one.name,
      expected: phrases[one.expectation],
      responses: outcomes.map((outcome) => (outcome.status === null ? outcome.why : String(outcome.status))),
      ok: outcomes.every((outcome) => isExpected(one.expectation, outcome)),
      ...failureIn(outcomes),
    };
  }
}

function failureIn(outcomes: readonly PostOutcome[]): { failure?: PostFailure } {
  for (const outcome of outcomes) if (outcome.status === null) return { failure: outcome.failure };
  return {};
}

/** A long body may be rejected by closing the connection, before the sender can read a response. */
function isExpected(expectation: Expectation, outcome: PostOutcome): boolean {
  if (outcome.status === null) return expectation === "end" && outcome.failure === "closed";
  const { status } = outcome;
  const isSuccess = status >= 200 && status < 300;
  const isRejection = status >= 400 && status < 500;
  if (expectation === "accept") return isSuccess;
  return isRejection || (expectation === "end" && isSuccess);
}

function casesOf({ type, makeEvent, target, sleep }: TortureInput): readonly TortureCase[] {
  const event = (ids?: SampleIds) => JSON.stringify(makeEvent(type, ids));
  return [
    { name: "genuine", expectation: "accept", deliveries: () => [[event()]] },
    {
      name: "duplicate",
      expectation: "accept",
      deliveries: () => {
        const text = event();
        return [[text], [text]];
      },
    },
    {
      name: "out of order",
      expectation: "accept",
      deliveries: () => {
        const [older, newer] = [event(), event()];
        return [[newer], [older]];
      },
    },
    {
      name: "new event type",
      expectation: "accept",
      deliveries: () => [[JSON.stringify({ ...makeEvent(type), type: "product.reviewed" })]],
    },
    {
      name: "slow body",
      expectation: "accept",
      deliveries: () => [[event(), { pieces: (body) => inPieces(body, sleep) }]],
    },
    {
      name: "no signature",
      expectation: "reject",
      deliveries: () => [[event(), { header: null }]],
    },
    {
      name: "forged signature",
      expectation: "reject",
      deliveries: () => [
        [event(), { header: `t=${Math.floor(target.now() / 1000)},v1=${"0".repeat(64)}` }],
        [event(), { header: "garbage" }],
      ],
    },
    {
      name: "stale timestamp",
      expectation: "reject",
      deliveries: () => [[event(), { ageSeconds: 3_600 }]],
    },
    {
      name: "huge body",
      expectation: "end",
      deliveries: () => [[JSON.stringify({ ...makeEvent(type), padding: "x".repeat(hugeBytes) })]],
    },
    { name: "genuine again", expectation: "accept", deliveries: () => [[event()]] },
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
