import { createHmac, timingSafeEqual } from "node:crypto";
import { limits } from "../../contract/limits.ts";
import { Refusal } from "../rules/refusal.ts";
import { lastNow } from "../store/state-fields.ts";

/** A URL that needs no key, and when it stops working (RFC 3339). */
export interface SignedUrl {
  readonly url: string;
  readonly expiresAt: string;
}

/**
 * Signed URLs live outside `/v1`, as those of a storage service would: whoever holds one may read it, for exactly one hour of
 * the mock's clock (Limits, signed URL lifetime). `expires` is in milliseconds since the epoch.
 */
export class SignedUrls {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `path` begins with `/_signed/`. */
  sign(baseUrl: string, path: string, now: number): SignedUrl {
    // After the last moment of all there is no time that could be written.
    const expires = Math.min(Math.floor(now) + limits.signedUrlMs, lastNow);
    return {
      url: `${baseUrl}${path}?expires=${expires}&signature=${this.#mac(path, expires).toString("hex")}`,
      expiresAt: new Date(expires).toISOString(),
    };
  }

  /** 403 `url_expired` for one that is over, altered or made up. */
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
      throw new Refusal("url_expired", "the signed URL has expired or its signature is not right");
    }
  }

  #mac(path: string, expires: number): Buffer {
    return createHmac("sha256", this.#secret).update(`${path}?expires=${expires}`).digest();
  }
}

/** Where the bytes of an image, the preview of a model, the results of an import and the artifact of an export are read. */
export const signedPaths = {
  image: (id: string) => `/_signed/images/${id}`,
  modelPreview: (id: string) => `/_signed/models/${id}`,
  importResults: (id: string) => `/_signed/imports/${id}/results.jsonl`,
  exportManifest: (id: string) => `/_signed/exports/${id}/manifest.jsonl`,
  exportImages: (id: string) => `/_signed/exports/${id}/images.zip`,
};
