import { assumed, enforced, inFile, type Section } from "../clause.ts";

const idempotency = inFile("mock/idempotency.test.ts");
const limits = inFile("mock/keys-and-limits.test.ts");
const faults = inFile("mock/faults.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Cross-cutting request rules, and the rate limit. */
export const requests: Section = {
  title: "Cross-cutting request rules",
  clauses: [
    enforced(
      "Idempotency-Key has up to 255 characters.",
      idempotency("the form of a key > 255 characters", "the form of a key > 256 characters"),
      "limit idempotencyKeyLength",
    ),
    assumed(
      "An empty Idempotency-Key.",
      "400: it would be the same for everybody.",
      idempotency("the form of a key > none at all"),
    ),
    enforced("GET is never tracked.", idempotency("the form of a key > a GET takes no notice of it")),
    enforced(
      "Keys belong to the organization.",
      idempotency("the same key > is another key in another organization"),
    ),
    enforced(
      "Keys expire after 24 hours.",
      idempotency("the same key > is remembered for 24 hours, to the millisecond"),
      "limit idempotencyKeyMs",
    ),
    enforced(
      "Same key and same request: the stored response, with Idempotent-Replayed: true.",
      idempotency(
        "the same key > and the same request: the stored answer, marked, and nothing done twice",
        "the same key > replays Retry-After and other headers of the answer",
      ),
    ),
    enforced(
      "Same key with a different method, path or body: 422 idempotency_key_reused.",
      idempotency(
        "the same key > and another body, path, query or method: 422",
        "the same key > and another method alone: 422, and nothing done",
      ),
      "code idempotency_key_reused",
    ),
    assumed(
      "Whether the query is part of the path, and how bodies are compared.",
      "It is; bodies are compared byte by byte.",
      idempotency("the same key > and another body, path, query or method: 422"),
    ),
    enforced(
      "Same key while the first request still runs: 409 request_in_progress.",
      [
        ...idempotency(
          "while the first request runs > a second one gets 409, and the answer once the first is done",
        ),
        ...conformance("refuses a second request while the first runs"),
      ],
      "code request_in_progress",
    ),
    enforced(
      "A 4xx is stored and replayed.",
      idempotency(
        "which answers are stored > 404",
        "which answers are stored > a 415 and a 409 are replayed, too",
      ),
    ),
    assumed(
      "Which 4xx are not stored.",
      "401, a scope's 403, 404 and 405 for paths, 413 and 429: they are about the caller, or given before the body was read.",
      [
        ...idempotency(
          "which answers are stored > a key that may not write gets no other key's answer, and leaves none of its own",
        ),
        ...faults("a status > %d under a key: replayed is %s"),
      ],
    ),
    enforced("A 5xx is never stored: the key is released and a retry runs the request again.", [
      ...idempotency("which answers are stored > 500 is not"),
      ...faults("a status > %d under a key: replayed is %s"),
    ]),
    enforced(
      "A key whose request crashed before it was recorded frees itself after a few minutes.",
      "mock/idempotency-keys.test.ts > a key whose request never came to an end frees itself after five minutes",
    ),
    enforced(
      "Without a key the request runs normally.",
      "mock/products.test.ts > create > trims the reference and gives back the product",
    ),
    enforced("Every response carries X-Request-Id.", [
      ...conformance("answers a request that is right", "refuses with %d %s"),
      "mock/bad-requests.test.ts > bytes that are no request",
    ]),
    enforced(
      "A caller's X-Request-Id of up to 128 letters, digits, . _ : - is echoed; another is replaced.",
      [
        ...limits("request ids > a valid one is echoed: %s", "request ids > another gets a new one: %s"),
        "contract/tables.test.ts > a request id has 1 to 128 letters, digits and four signs",
      ],
      "limit requestIdLength",
    ),
    enforced(
      "Every response carries X-RateLimit-Limit, -Remaining and -Reset.",
      limits("the rate window > is told on every answer, and does not count what nobody can be charged with"),
    ),
    enforced(
      "600 reads and 60 writes a minute and organization.",
      limits(
        "the rate window > is 600 reads and 60 writes unless told, each to the last one",
        "the rate window > belongs to the organization, not to the key",
      ),
      "limit readsPerMinute",
      "limit writesPerMinute",
    ),
    enforced(
      "The window starts on the minute; callers in the same minute share it.",
      limits(
        "the rate window > counts reads and writes apart, refuses the one too many, and starts anew on the minute",
      ),
      "limit rateWindowMs",
    ),
    enforced(
      "Above the limit: 429 rate_limit_exceeded with Retry-After in seconds.",
      [
        ...limits(
          "the rate window > counts reads and writes apart, refuses the one too many, and starts anew on the minute",
        ),
        ...conformance("refuses with %d %s"),
      ],
      "code rate_limit_exceeded",
    ),
    enforced(
      "After a 429 nothing was created and no idempotency key was consumed.",
      limits("the rate window > a refused request does not use up its idempotency key"),
    ),
    assumed(
      "Which requests count.",
      "Those of a valid key, whatever becomes of them; not 401, unknown paths, preflights, signed files, /openapi.json or /_mock.",
      [
        ...limits(
          "the rate window > is told on every answer, and does not count what nobody can be charged with",
        ),
        "mock/openapi.test.ts > it asks for no key, counts nothing, and carries what every answer carries",
      ],
    ),
  ],
};
