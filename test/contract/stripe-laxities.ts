import Stripe from "stripe";
import { verifySignature } from "../../src/contract/signature.ts";
import type { VerifyInput } from "../../src/contract/signature-header.ts";

/** A delivery to check, as both programs take it. */
export interface SignedCase {
  readonly header: string;
  readonly body: Buffer;
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly toleranceSeconds: number;
}

/** Whether the `stripe` package accepts a delivery. It has the same signature scheme. */
export function stripeAccepts({ header, body, secret, now, toleranceSeconds }: SignedCase): boolean {
  try {
    return Stripe.webhooks.signature!.verifyHeader(body, header, secret, toleranceSeconds, undefined, now);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
}

/** Whether this package accepts it. */
export const catalogueAccepts = ({ body, ...given }: SignedCase): boolean =>
  verifySignature({ ...given, rawBody: body } satisfies VerifyInput).ok;

const partsOf = (header: string): string[] => header.split(",");
const isUtf8 = (body: Buffer): boolean => Buffer.from(body.toString("utf8")).equals(body);
const timesOf = (header: string): string[] =>
  partsOf(header).flatMap((part) => (part.trim().startsWith("t=") ? [part.trim().slice(2)] : []));

/**
 * Each known difference between the two programs, and the deliveries that it can affect. Where `stripe` is true, only
 * Stripe accepts such a delivery; where it is false, only this package.
 */
export const laxities = {
  "Stripe accepts a time in the future": {
    stripe: true,
    affects: ({ header, now, toleranceSeconds }) =>
      timesOf(header).some((time) => Number.parseInt(time, 10) - Math.floor(now / 1000) > toleranceSeconds),
  },
  "Stripe accepts any age with a tolerance of 0": {
    stripe: true,
    affects: ({ toleranceSeconds }) => toleranceSeconds === 0,
  },
  "Stripe reads the number at the start of a time, and signs that": {
    stripe: true,
    affects: ({ header }) => timesOf(header).some((time) => !/^(0|[1-9]\d{0,11})$/.test(time)),
  },
  "Stripe takes the last of several times": {
    stripe: true,
    affects: ({ header }) => timesOf(header).length > 1,
  },
  "Stripe ignores parts that it does not know": {
    stripe: true,
    affects: ({ header }) => partsOf(header).some((part) => !/^[a-z0-9]+=/.test(part.trim())),
  },
  "Stripe ignores text after a second =": {
    stripe: true,
    affects: ({ header }) => partsOf(header).some((part) => /^v1=[^=]*=/.test(part.trim())),
  },
  "Stripe decodes the body as UTF-8 first: without its byte order mark, and with U+FFFD for other bytes": {
    stripe: true,
    affects: ({ body }) => !isUtf8(body) || body.toString("utf8").startsWith("\uFEFF"),
  },
  "this package ignores spaces around parts": {
    stripe: false,
    affects: ({ header }) => partsOf(header).some((part) => part !== part.trim()),
  },
} as const satisfies Record<string, { stripe: boolean; affects: (of: SignedCase) => boolean }>;

export type Laxity = keyof typeof laxities;

/** The differences that may show in a delivery; for a delivery without any, both programs must agree. */
export const laxitiesOf = (of: SignedCase): Laxity[] =>
  (Object.keys(laxities) as Laxity[]).filter((name) => laxities[name].affects(of));
