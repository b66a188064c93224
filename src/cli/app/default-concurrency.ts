/** Default number of requests in flight. The rate limit, not this number, bounds a long run. */
export const defaultConcurrency = 4;
