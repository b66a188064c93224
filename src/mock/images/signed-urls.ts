import { createHmac, timingSafeEqual } from "node:crypto";
import { lastMoment } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import { Rejection } from "../rules/rejection.ts";

/** The latest expiry time: a day after the last time of a clock, the end of the year 9999. */
const lastExpiry = lastMoment + 86_400_000;

/**
 * Signed URLs are outside `/v1`, like those of a storage service. They work without an API key for exactly
 * one hour of the mock's clock (Limits, signed URL lifetime). `expires` is in milliseconds since the epoch.
 */
export class SignedUrls {
  constructor(private readonly secret: string) {}

  /** A URL that works without an API key, and its expiry time (RFC 3339). `path` starts with `/_signed/`. */
  sign(baseUrl: string, path: string, now: number): { url: string; url_expires_at: string } {
    // Later times cannot be written as a timestamp.
    const expires = Math.min(Math.floor(now) + limits.signedUrlMs, lastExpiry);
    return {
      url: `${baseUrl}${path}?expires=${expires}&signature=${this.#mac(path, expires).toString("hex")}`,
      url_expires_at: new Date(expires).toISOString(),
    };
  }

  /** 403 `url_expired` for a URL that is expired, altered or forged. */
  check(path: string, query: Readonly<Record<string, unknown>>, now: number): void {
    const { expires, signature } = query;
    const isWellFormed =
      typeof expires === "string" &&
      /^\d{1,15}$/.test(expires) &&
      typeof signature === "string" &&
      /^[0-9a-f]{64}$/.test(signature);
    if (
      !isWellFormed ||
      !timingSafeEqual(Buffer.from(signature, "hex"), this.#mac(path, Number(expires))) ||
      now >= Number(expires)
    ) {
      throw new Rejection("url_expired", "the signed URL has expired or its signature is invalid");
    }
  }

  #mac(path: string, expires: number): Buffer {
    return createHmac("sha256", this.secret).update(`${path}?expires=${expires}`).digest();
  }
}

export const signedPaths = {
  image: (id: string) => `/_signed/images/${id}`,
  /** The active version of an edited or watermarked image. */
  asset: (id: string) => `/_signed/assets/${id}`,
  modelPreview: (id: string) => `/_signed/models/${id}`,
  importResults: (id: string) => `/_signed/imports/${id}/results.jsonl`,
  exportManifest: (id: string) => `/_signed/exports/${id}/manifest.jsonl`,
  exportImages: (id: string) => `/_signed/exports/${id}/images.zip`,
};
