/** What the numbers that a mock is started with may be, in code and on the command line; whole ones unless said. */
export const optionRanges = {
  port: { min: 0, max: 65_535 },
  seed: { min: 0, max: 999_999_999_999_999 },
  /** More would only fill the memory. */
  demo: { min: 0, max: 1_000_000 },
  /** Any number in between. Slower or faster than that, moments of jobs could not be told any more. */
  speed: { min: 1e-9, max: 1e15 },
  /** Of reads and of writes; no limit has its own word. */
  requestsPerMinute: { min: 1, max: 999_999_999 },
  latencyMs: { min: 0, max: 600_000 },
} as const;
