/** The numbers of the specification (Limits), and the lengths that we chose where it is silent. */

export const limits = {
  /** GET requests per minute and organization (Limits). */
  readsPerMinute: 600,
  /** POST, PATCH and DELETE requests per minute and organization (Limits). */
  writesPerMinute: 60,
  /** Length of the rate limit window in milliseconds; it starts on the minute (Limits). */
  rateWindowMs: 60_000,
  page: { min: 1, max: 100, default: 25 },
  importRows: { min: 1, max: 2_000 },
  /** Bytes of an import body sent inline: 8 MB (Imports, rule 5). */
  importBodyBytes: 8 * 1024 * 1024,
  /** Maximum bytes of a batch that the client sends: under 8 MB, whether decimal or binary. */
  importBatchBytes: 8_000_000,
  imagesPerProduct: { min: 1, max: 20 },
  referenceLength: { min: 1, max: 100 },
  nameLength: { min: 1, max: 200 },
  descriptionLength: { max: 2_000 },
  /** Bytes of one image, uploaded or fetched: 10 MB (Limits). */
  imageBytes: 10 * 1024 * 1024,
  /** How long the URL of an image must work without a key (Limits, import image URL availability). */
  importUrlAvailabilityMs: 24 * 3_600_000,
  exportProducts: 500,
  tryonInputs: { min: 1, max: 20 },
  stylings: { max: 10 },
  signedUrlMs: 3_600_000,
  idempotencyKeyLength: 255,
  idempotencyKeyMs: 24 * 3_600_000,
  requestIdLength: 128,
  /** Seconds in `Retry-After` while a job runs (Limits, job polling interval). */
  jobPollSeconds: 5,
  webhookTimeoutMs: 10_000,
  /** Waits before the second and each later attempt of a delivery (Events, Retries 2). */
  webhookRetryMs: [60_000, 300_000, 900_000, 3_600_000, 21_600_000],
  /** Maximum distance of a webhook signature's timestamp from now, in seconds (Events, Signature 3). */
  signatureToleranceSeconds: 300,
} as const;

/** The time from an event to the last attempt to deliver it: about 7 h 21 min. */
export const webhookRetryTotalMs = limits.webhookRetryMs.reduce((sum: number, wait) => sum + wait, 0);

/** How long a key is used: 24 hours (Cross-cutting rule 1) less one hour for inaccurate clocks, in ms. */
export const keyLifeMs = limits.idempotencyKeyMs - 3_600_000;

/** The form of every ID except a model's: a ULID, 26 characters of Crockford base32 (Resources). */
export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** A client's request ID: up to 128 letters, digits, `.`, `_`, `:`, `-` (Cross-cutting rule 7). */
export const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** Ranges of numeric options of the mock and of listeners; integers unless noted. */
export const optionRanges = {
  port: { min: 0, max: 65_535 },
  seed: { min: 0, max: 999_999_999_999_999 },
  /** Number of demo products. More would only fill the memory. */
  demo: { min: 0, max: 1_000_000 },
  /** Any number, not only integers. Beyond these bounds the times of jobs would lose their precision. */
  speed: { min: 1e-9, max: 1e15 },
  /** Reads and writes per minute; "no limit" is a separate value. */
  requestsPerMinute: { min: 1, max: 999_999_999 },
  latencyMs: { min: 0, max: 600_000 },
  /** 31 years: a signature of any age. */
  toleranceSeconds: { min: 0, max: 999_999_999 },
} as const;
