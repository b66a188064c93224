/** Ranges of numeric options of the mock and of listeners, in code and on the command line; integers unless noted. */
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
