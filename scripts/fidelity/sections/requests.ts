import { assumed, enforced, inFile, type Section } from "../clause.ts";

const idempotency = inFile("mock/rules/idempotency.test.ts");
const limits = inFile("mock/rules/keys-and-limits.test.ts");
const faults = inFile("mock/faults/faults.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Cross-cutting request rules, and the rate limit. */
export const requests: Section = {
  title: "Cross-cutting request rules",
  clauses: [
    enforced(
      "Idempotency-Key has up to 255 characters.",
      idempotency(
        "an idempotency key > is accepted with 255 characters",
        "an idempotency key > is rejected with 256 characters",
      ),
      "limit idempotencyKeyLength",
    ),
    assumed(
      "An empty Idempotency-Key.",
      "400, because all clients that send one would share it.",
      idempotency("an idempotency key > is rejected if it is empty"),
    ),
    enforced("GET is never tracked.", idempotency("an idempotency key > is ignored for GET")),
    enforced(
      "Keys belong to the organization.",
      idempotency("the same key > is independent in another organization"),
    ),
    enforced(
      "Keys expire after 24 hours.",
      idempotency("the same key > is stored for 24 hours, to the millisecond"),
      "limit idempotencyKeyMs",
    ),
    enforced(
      "Same key and same request: the stored response, with Idempotent-Replayed: true.",
      idempotency(
        "the same key > with the same request returns the stored response, marked, and does nothing twice",
        "the same key > replays Retry-After and other headers of the response",
      ),
    ),
    enforced(
      "Same key with a different method, path or body: 422 idempotency_key_reused.",
      idempotency(
        "the same key > with another body, path, query or method gets 422",
        "the same key > with only another method gets 422, and does nothing",
      ),
      "code idempotency_key_reused",
    ),
    assumed(
      "Whether the query is part of the path, and how bodies are compared.",
      "The query is part of it; bodies are compared byte by byte.",
      idempotency("the same key > with another body, path, query or method gets 422"),
    ),
    enforced(
      "Same key while the first request still runs: 409 request_in_progress.",
      [
        ...idempotency(
          "while the first request is in flight > a second one gets 409, and the stored response once the first is done",
        ),
        ...conformance("rejects a second request while the first runs"),
      ],
      "code request_in_progress",
    ),
    enforced(
      "A 4xx is stored and replayed.",
      idempotency("a response > is stored for 404", "a response > is stored for 415 and 409"),
    ),
    assumed(
      "4xx responses that are not stored.",
      "401, the 403 for a missing scope, 404 and 405 for paths, 413 and 429: they concern the API key, or are sent before the body is read.",
      [
        ...idempotency("a response > is neither read nor stored for a read-only API key"),
        ...faults("a status > of %d with an idempotency key has the replay header %s when repeated"),
      ],
    ),
    enforced("A 5xx is never stored: the key is released and a retry runs the request again.", [
      ...idempotency("a response > is not stored for 500"),
      ...faults("a status > of %d with an idempotency key has the replay header %s when repeated"),
    ]),
    enforced("A key whose request crashed before its response was stored is released after a few minutes.", [
      "mock/rules/idempotency-keys.test.ts > a key whose request never finished is released after five minutes",
      "mock/parts/parts.test.ts > an idempotency key of a crashed request is in use for five minutes, then free",
      "mock/faults/custom-answers.test.ts > a drop like a crash > does the work, keeps the key in use for five minutes, then does it again",
    ]),
    enforced(
      "Without a key the request runs normally.",
      "mock/routes/products.test.ts > create > trims the reference and returns the product",
    ),
    enforced("Every response carries X-Request-Id.", [
      ...conformance("accepts a valid request", "rejects with %d %s"),
      "mock/requests/bad-requests.test.ts > a raw request",
    ]),
    enforced(
      "A valid X-Request-Id (up to 128 letters, digits, . _ : -) is echoed; an invalid one is replaced.",
      [
        ...limits("request IDs > are echoed if valid: %s", "request IDs > are replaced if invalid: %s"),
        "contract/tables.test.ts > a request ID has 1 to 128 letters, digits and four punctuation characters",
      ],
      "limit requestIdLength",
    ),
    enforced(
      "Every response carries X-RateLimit-Limit, -Remaining and -Reset.",
      limits(
        "the rate limit window > is in every response, and does not count requests without a known organization",
      ),
    ),
    enforced(
      "600 reads and 60 writes per minute and organization.",
      [
        ...limits(
          "the rate limit window > allows 600 reads and 60 writes by default",
          "the rate limit window > belongs to the organization, not to the API key",
        ),
        "mock/rules/limits.test.ts > reads per minute",
        "mock/rules/limits.test.ts > writes per minute",
      ],
      "limit readsPerMinute",
      "limit writesPerMinute",
    ),
    enforced(
      "The window starts on the minute; all clients of the organization share it.",
      limits(
        "the rate limit window > counts reads and writes separately, rejects one too many, and restarts on the minute",
      ),
      "limit rateWindowMs",
    ),
    enforced(
      "Above the limit: 429 rate_limit_exceeded with Retry-After in seconds.",
      [
        ...limits(
          "the rate limit window > counts reads and writes separately, rejects one too many, and restarts on the minute",
        ),
        ...conformance("rejects with %d %s"),
      ],
      "code rate_limit_exceeded",
    ),
    enforced(
      "After a 429 nothing was created and no idempotency key was consumed.",
      limits("the rate limit window > does not use up the idempotency key of a rejected request"),
    ),
    assumed(
      "Requests that count against the rate limit.",
      "All requests with a valid key, whatever the result; not 401, unknown paths, preflights, signed URLs, /openapi.json or /_mock.",
      [
        ...limits(
          "the rate limit window > is in every response, and does not count requests without a known organization",
        ),
        "mock/routes/openapi.test.ts > GET /openapi.json needs no API key, does not count, and has the headers of every response",
      ],
    ),
  ],
};
