import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { limits } from "../../contract/limits.ts";
import { invalid, Rejection } from "./rejection.ts";

/** A complete response, with its body as sent; null for an empty body. */
export interface FullResponse {
  readonly status: number;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Headers of a fault, which replace those of every response; null removes one. The type is among them. */
  readonly custom?: Readonly<Record<string, string | null>> | undefined;
}

/** `answer` is null while the first request is in flight; `at` is when that request began. */
export interface KeyRecord {
  readonly key: string;
  /** Null if the request is not known: any request finds the key in use. */
  readonly fingerprint: string | null;
  readonly at: number;
  answer: FullResponse | null;
  /** Set if the request crashed before its response was recorded. */
  crashed?: true;
}

/** A key whose request never finished is released after this time (Cross-cutting rule 5, "a few minutes"). */
const abandonedAfterMs = 300_000;

/** The `Idempotency-Key` of a request; null without one, 400 if it is empty or too long. */
export function parseIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length < 1 || key.length > limits.idempotencyKeyLength) {
    const longest = limits.idempotencyKeyLength;
    throw invalid(`Idempotency-Key must have 1 to ${longest} characters`, "Idempotency-Key");
  }
  return key;
}

/** Identifies equal requests: method, path with query, and body (Cross-cutting rule 3). */
export const toFingerprint = (method: string, url: string, body: Uint8Array): string =>
  createHash("sha256").update(`${method} ${url}\n`).update(body).digest("base64");

export class IdempotencyKeys {
  /** In order of time, because a key is set again only after it expired or was released. */
  readonly #records = new Map<string, KeyRecord>();

  /**
   * Claims the key for a request that is about to run, or returns the record with the stored response. Throws
   * 422 if the key belongs to another request, and 409 while the first request is in flight.
   */
  claim(key: string, fingerprint: string, now: number): KeyRecord {
    this.#forgetExpired(now);
    const known = this.#records.get(key);
    if (
      known !== undefined &&
      now - known.at < (known.answer === null ? abandonedAfterMs : limits.idempotencyKeyMs)
    ) {
      if (known.fingerprint !== null && known.fingerprint !== fingerprint) {
        throw new Rejection(
          "idempotency_key_reused",
          "this idempotency key was used with a different request: its method, path or bytes differ; a multipart body needs the same boundary",
        );
      }
      if (known.answer === null) {
        throw new Rejection(
          "request_in_progress",
          "the first request with this idempotency key is still in progress",
        );
      }
      return known;
    }
    const record: KeyRecord = { key, fingerprint, at: now, answer: null };
    this.#records.delete(key);
    this.#records.set(key, record);
    return record;
  }

  /** Stores the response; a 5xx releases the key (Cross-cutting rule 5), and so does a 429 (Limits). */
  complete(record: KeyRecord, answer: FullResponse): void {
    if (answer.status >= 500 || answer.status === 429) this.release(record);
    else if (this.#records.get(record.key) === record) record.answer = answer;
  }

  /** Undoes a claim, as if the request had never arrived. */
  release(record: KeyRecord): void {
    if (this.#records.get(record.key) === record) this.#records.delete(record.key);
  }

  /** Marks a key as that of a request which crashed now (Cross-cutting rule 5); returns when it is free. */
  crash(key: string, now: number): number {
    this.#records.delete(key);
    this.#records.set(key, { key, fingerprint: null, at: now, answer: null, crashed: true });
    return now + abandonedAfterMs;
  }

  /** The records of finished and crashed requests, for the snapshot. */
  *state(): Generator<KeyRecord> {
    for (const { key, fingerprint, at, answer, crashed } of this.#records.values()) {
      if (answer !== null || crashed) yield { key, fingerprint, at, answer };
    }
  }

  /** A record of a snapshot: one without a response is that of a crashed request. */
  restore(record: KeyRecord): void {
    this.#records.set(record.key, record.answer === null ? { ...record, crashed: true } : record);
  }

  #forgetExpired(now: number): void {
    for (const [key, record] of this.#records) {
      if (now - record.at < limits.idempotencyKeyMs) return;
      this.#records.delete(key);
    }
  }
}
