import { assumed, enforced, inFile, type Section } from "../clause.ts";

const bad = inFile("mock/bad-requests.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const tables = inFile("contract/tables.test.ts");
const faults = inFile("mock/faults.test.ts");

/** Errors. */
export const errors: Section = {
  title: "Errors",
  clauses: [
    enforced(
      "Every error, from any endpoint, is {error: {type, code, message, param?}}.",
      [
        ...conformance("refuses with %d %s"),
        ...bad(
          "a body that is not as it should be > %s: 400 with the envelope",
          "bytes that are no request > garbage",
        ),
      ],
      "code invalid_request",
    ),
    enforced("The types are the nine of the specification.", tables("error types")),
    enforced(
      "param names the field, such as inputs.product_id.",
      "mock/products.test.ts > create > %s is refused with the field",
    ),
    enforced("POST /v1/imports and POST /v1/tasks/tryon answer 400 with a list instead.", [
      "mock/imports.test.ts > validation is all-or-nothing > every problem of every row, in the order of the lines, and nothing is created",
      "mock/tasks.test.ts > a try-on > is told of everything that is wrong with every input, and nothing is queued",
    ]),
    enforced("The known codes have the statuses of the specification.", [
      ...tables("the code %s is a %d %s"),
      ...conformance("refuses with %d %s"),
    ]),
    assumed(
      "The codes that are not shown, and their types.",
      "Those of the interface; see the choices below.",
      conformance("refuses with %d %s"),
    ),
    enforced(
      "5xx: the message is generic.",
      faults("a status > %d has the envelope with the type %s and the code %s"),
      "code internal_error",
    ),
    assumed(
      "The type not_implemented.",
      "Nothing of the specification answers it; a fault may.",
      faults("a status > %d has the envelope with the type %s and the code %s"),
      "code not_implemented",
    ),
    assumed(
      "An unknown path, and a known path with another method.",
      "404 route_not_found, and 405 method_not_allowed with Allow.",
      bad("a place that is not there > %s", "a place that is not there > %s %s: 405 with what is allowed"),
      "code route_not_found",
      "code method_not_allowed",
    ),
    assumed(
      "A URL or headers that are too long.",
      "414 above 8,192 bytes, 431 above 32 KiB.",
      bad(
        "a URL of 8,192 bytes passes, a longer one does not",
        "bytes that are no request > headers that are too long",
      ),
      "code uri_too_long",
      "code headers_too_large",
    ),
    assumed(
      "A client that is too slow.",
      "408 and the end of the connection.",
      bad("a client that is too slow is told so and cut"),
      "code request_timeout",
    ),
    assumed(
      "A response that does not wait for the body of its request.",
      "It reaches a client that writes first: the mock discards up to 64 MiB, for up to 5 seconds.",
      [
        "mock/write-first.test.ts > %s: it reads the response",
        "mock/write-first.test.ts > Python's urllib reads the response",
        "mock/last-words.test.ts > is discarded for 64 MiB, and read no further",
      ],
    ),
    assumed(
      "What is not HTTP.",
      "400 with the envelope and its headers, then the end of the connection.",
      bad("bytes that are no request > TLS", "bytes that are no request > garbage"),
    ),
  ],
};
