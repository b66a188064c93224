// Leases: objects that say which machine works on what, until when. Conditional writes exclude two holders.

import { text } from "node:stream/consumers";
import type { Clock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import type { Bucket, Condition, EtagForm } from "./bucket.ts";
import { toContent } from "./content.ts";

export interface LeaseHolder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/** The content of the object. `until` is by the store's clock, in Unix milliseconds; 0 after a release. */
interface LeaseState {
  readonly holder: LeaseHolder;
  readonly until: number;
}

/** A holder that is killed keeps others out for so long, in milliseconds. */
const lifeMs = 60_000;
const renewalMs = 20_000;
/** A write that is in flight when a lease ends has this time, in milliseconds. */
const marginMs = 10_000;
/** Others that take the lease between a look at it and a try. */
const mostTries = 3;

interface LeaseWriting {
  readonly bucket: Bucket;
  readonly key: string;
  readonly clock: Clock;
  readonly write: (until: number, condition: Condition) => Promise<string | null>;
}

export interface Lease {
  /** Throws a CatError of type conflict once the lease may be another one's. */
  check(): void;
  release(): Promise<void>;
}

/** Takes a free or ended lease, renewed until released or lost; resolves to the holder if it is held. */
export async function takeLease(
  bucket: Bucket,
  key: string,
  { holder, clock }: { holder: LeaseHolder; clock: Clock },
): Promise<Lease | { readonly heldBy: LeaseHolder | null }> {
  const write = async (until: number, condition: Condition) =>
    bucket.put(key, toContent(Buffer.from(JSON.stringify({ holder, until } satisfies LeaseState))), {
      type: "application/json",
      condition,
      // An interrupted run releases its lease: the same command resumes at once.
      isAfterInterrupt: until === 0,
    });
  let heldBy: LeaseHolder | null = null;
  for (let attempt = 1; attempt <= mostTries; attempt++) {
    const lease = await readLease(bucket, key);
    if (lease !== null && lease.state.until > bucket.now()) return { heldBy: lease.state.holder };
    heldBy = lease?.state.holder ?? null;
    const until = bucket.now() + lifeMs;
    const etag = await write(until, lease === null ? "absent" : { etag: lease.etag });
    if (etag !== null) return renewing({ etag, until }, { bucket, key, clock, write });
  }
  return { heldBy };
}

function renewing(
  taken: { etag: string; until: number },
  { bucket, key, clock, write }: LeaseWriting,
): Lease {
  let current = taken;
  let isLost = false;
  let isReleased = false;
  let renewal: Promise<void> = Promise.resolve();
  let cancel = () => {};
  const renew = async () => {
    const until = bucket.now() + lifeMs;
    try {
      const etag = await write(until, { etag: current.etag });
      if (etag === null) isLost = true;
      else current = { etag, until };
    } catch {
      // The next renewal tries again, as long as the lease lasts.
    }
    if (!isLost && !isReleased) plan();
  };
  const plan = () => {
    cancel = clock.at(clock.now() + renewalMs, () => {
      renewal = renew();
    });
  };
  plan();
  return {
    check() {
      if (!isLost && bucket.now() < current.until - marginMs) return;
      throw new CatError(
        `another machine may work on ${bucket.shown} by now: the lease ${key} was not renewed in time`,
        {
          type: "conflict",
          code: "lease_lost",
          hint: "Run the same command again (nothing is uploaded twice).",
        },
      );
    },
    async release() {
      isReleased = true;
      cancel();
      await renewal;
      // An ended one, not none: a store may ignore the condition of a deletion.
      if (!isLost) await write(0, { etag: current.etag }).catch(() => {});
    },
  };
}

async function readLease(bucket: Bucket, key: string): Promise<{ etag: string; state: LeaseState } | null> {
  const object = await bucket.get(key);
  if (object === null) return null;
  const content = await text(object.body);
  try {
    const state = parseJson(content) as LeaseState;
    if (typeof state.until === "number") return { etag: object.etag, state };
  } catch {}
  throw new CatError(`the lease ${bucket.shown}/${key} is damaged`, {
    type: "conflict",
    code: "damaged_lease",
    hint: "Make sure that no other machine works on this mirror, and delete that object.",
  });
}

/** Throws a CatError, with the hint, if a store does not check conditions. */
export async function requireConditions(bucket: Bucket, hint: string): Promise<void> {
  if ((await probeConditions(bucket)) !== null) return;
  throw new CatError(
    `the store of ${bucket.shown} does not check conditions of writes, so two machines could not be kept apart`,
    { type: "usage", code: "no_conditional_writes", hint },
  );
}

/** The start of the keys of probes. */
const probes = ".catalogue/probe-";
/** Older ones, in milliseconds, are of runs that were killed. */
const oldMs = 3_600_000;

/** Probes whether a store checks conditions, which some ignore silently, and how it takes ETags; or null. */
export async function probeConditions(bucket: Bucket): Promise<EtagForm | null> {
  for await (const { key, at } of bucket.list(probes))
    if (at < bucket.now() - oldMs) await bucket.remove(key);
  const key = probes + crypto.randomUUID();
  const content = toContent(Buffer.from("{}"));
  const put = (condition: Condition) => bucket.put(key, content, { condition });
  try {
    const etag = await put("absent");
    if (etag === null || (await put("absent")) !== null) return null;
    if ((await put({ etag: '"00000000000000000000000000000000"' })) !== null) return null;
    for (const form of ["quoted", "bare"] as const) {
      bucket.etagForm = form;
      if ((await put({ etag })) !== null) return form;
    }
    return null;
  } catch (error) {
    // The store does not have conditions.
    if (error instanceof CatError && (error.status === 501 || error.status === 400)) return null;
    throw error;
  } finally {
    await bucket.remove(key);
  }
}
