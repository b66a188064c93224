import { assumed, enforced, inFile, type Section } from "../clause.ts";

const bad = inFile("mock/requests/bad-requests.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const tables = inFile("contract/tables.test.ts");
const faults = inFile("mock/faults/faults.test.ts");

/** Errors. */
export const errors: Section = {
  title: "Errors",
  clauses: [
    enforced(
      "Every error, from any endpoint, is {error: {type, code, message, param?}}.",
      [
        ...conformance("rejects with %d %s"),
        ...bad("an invalid body > is rejected with 400 and the envelope: %s", "a raw request > garbage"),
      ],
      "code invalid_request",
    ),
    enforced("The types are the nine of the specification.", tables("error types")),
    enforced(
      "param names the field, such as inputs.product_id.",
      "mock/routes/products.test.ts > create > rejects %s with its field",
    ),
    enforced("The 400 of POST /v1/imports and POST /v1/tasks/tryon has a list instead.", [
      "mock/routes/imports.test.ts > validation > reports every problem of every row in line order, and creates nothing",
      "mock/routes/tasks.test.ts > a try-on > reports every problem of every input, and queues nothing",
    ]),
    enforced("The known codes have the statuses of the specification.", [
      ...tables("the codes with the status %d are of the type %s: %s"),
      ...conformance("rejects with %d %s"),
    ]),
    assumed(
      "Codes that the specification does not show, and their types.",
      "The codes of the interface; see the choices below.",
      conformance("rejects with %d %s"),
    ),
    enforced(
      "5xx: the message is generic.",
      faults("a status > of %d sends the envelope with type %s and code %s"),
      "code internal_error",
    ),
    assumed(
      "The type not_implemented.",
      "No endpoint of the specification returns it; a fault can.",
      faults("a status > of %d sends the envelope with type %s and code %s"),
      "code not_implemented",
    ),
    assumed(
      "An unknown path, and a known path with another method.",
      "404 route_not_found, and 405 method_not_allowed with Allow.",
      bad(
        "a path or query > gets 404 if the path is unknown: %s",
        "a path or query > gets 405 with the allowed methods: %s %s",
      ),
      "code route_not_found",
      "code method_not_allowed",
    ),
    assumed(
      "A URL or headers that are too long.",
      "414 above 8,192 bytes, 431 above 32 KiB.",
      bad(
        "a URL of 8,192 bytes is accepted, and a longer one is rejected",
        "a raw request > oversized headers",
      ),
      "code uri_too_long",
      "code headers_too_large",
    ),
    assumed(
      "A client that is too slow.",
      "408, then the connection is closed.",
      bad("that is too slow gets 408, and its connection is closed"),
      "code request_timeout",
    ),
    assumed(
      "A response sent before the request body has arrived.",
      "Clients that send everything before they read still get it: the mock discards up to 64 MiB for up to 5 seconds.",
      [
        "mock/requests/write-first.test.ts > gets the response: %s",
        "mock/requests/write-first.test.ts > Python's urllib gets the response",
        "mock/requests/unread-body.test.ts > is discarded up to 64 MiB, then no longer read",
      ],
    ),
    assumed(
      "Bytes that are not HTTP.",
      "400 with the envelope and all headers, then the connection is closed.",
      bad("a raw request > TLS", "a raw request > garbage"),
    ),
  ],
};
