import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { limits } from "../../contract/limits.ts";
import { invalid, Refusal } from "./refusal.ts";

/** A finished answer: the body as it goes over the wire, null for an empty one. */
export interface Answer {
  readonly status: number;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a key stands for; `answer` is null while the first request still runs. `at` is when that request began. */
export interface KeyRecord {
  readonly fingerprint: string;
  readonly at: number;
  answer: Answer | null;
}

/** A key whose request never came to an end frees itself after this long (Cross-cutting rule 5, "a few minutes"). */
const abandonedAfterMs = 300_000;

/** The `Idempotency-Key` of a request, null where there is none; one that is empty or too long is 400. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length < 1 || key.length > limits.idempotencyKeyLength) {
    const longest = limits.idempotencyKeyLength;
    throw invalid(`Idempotency-Key must have 1 to ${longest} characters`, "Idempotency-Key");
  }
  return key;
}

/** What makes two requests the same: method, path with its query, and the raw bytes of the body (Cross-cutting rule 3). */
export const fingerprintOf = (method: string, url: string, body: Uint8Array): string =>
  createHash("sha256").update(`${method} ${url}\n`).update(body).digest("base64");

/** The idempotency keys of one organization. */
export class IdempotencyKeys {
  /** In order of time, as keys are set anew only once they have expired or were released. */
  readonly #records = new Map<string, KeyRecord>();

  /**
   * Claims the key for a request that is about to run, or gives the answer stored under it.
   * Refuses with 422 when the key stands for another request, with 409 while the first one still runs.
   */
  claim(key: string, fingerprint: string, now: number): KeyRecord {
    this.#forgetExpired(now);
    const known = this.#records.get(key);
    if (
      known !== undefined &&
      now - known.at < (known.answer === null ? abandonedAfterMs : limits.idempotencyKeyMs)
    ) {
      if (known.fingerprint !== fingerprint) {
        throw new Refusal("idempotency_key_reused", "the idempotency key was used with another request");
      }
      if (known.answer === null) {
        throw new Refusal("request_in_progress", "the first request under this idempotency key still runs");
      }
      return known;
    }
    const record: KeyRecord = { fingerprint, at: now, answer: null };
    this.#records.delete(key);
    this.#records.set(key, record);
    return record;
  }

  /**
   * Ends a claim: the answer is stored, but for a 5xx, which releases the key (Cross-cutting rule 5), and for a 429, which
   * consumes none (Limits).
   */
  settle(key: string, record: KeyRecord, answer: Answer): void {
    if (answer.status >= 500 || answer.status === 429) this.release(key, record);
    else if (this.#records.get(key) === record) record.answer = answer;
  }

  /** Takes a claim back, as if the request had never come. */
  release(key: string, record: KeyRecord): void {
    if (this.#records.get(key) === record) this.#records.delete(key);
  }

  /** The finished ones, for the snapshot. */
  *state(): Generator<{ key: string; fingerprint: string; at: number; answer: Answer }> {
    for (const [key, { fingerprint, at, answer }] of this.#records) {
      if (answer !== null) yield { key, fingerprint, at, answer };
    }
  }

  restore({ key, ...record }: { key: string; fingerprint: string; at: number; answer: Answer }): void {
    this.#records.set(key, record);
  }

  #forgetExpired(now: number): void {
    for (const [key, record] of this.#records) {
      if (now - record.at < limits.idempotencyKeyMs) return;
      this.#records.delete(key);
    }
  }
}
