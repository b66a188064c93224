import { assumed, enforced, inFile, notModeled, type Section } from "../clause.ts";

const conformance = inFile("conformance/every-operation.test.ts");
const bad = inFile("mock/requests/bad-requests.test.ts");
const keys = inFile("mock/rules/keys-and-limits.test.ts");
const list = inFile("mock/routes/products.test.ts");
const tables = inFile("contract/tables.test.ts");

/** General clauses: endpoints, IDs, timestamps, lists, versions. */
export const service: Section = {
  title: "The service, its resources and lists",
  clauses: [
    enforced(
      "The mock has exactly the endpoints of the specification, with their methods, paths and statuses.",
      [
        ...tables("the contract has exactly the endpoints of the specification"),
        ...conformance("accepts a valid request"),
      ],
    ),
    enforced("Every resource has exactly the fields in its table.", [
      ...tables("the fields of"),
      ...conformance("accepts a valid request"),
    ]),
    enforced("Every set of values is the specification's.", tables("the values of %s")),
    enforced("All data belongs to the organization of the key; other organizations cannot see it.", [
      ...keys("API keys > of another organization see nothing of the first"),
      "mock/routes/exports.test.ts > live pages > do not show products of another organization",
      "mock/routes/webhooks.test.ts > another organization cannot see a webhook",
    ]),
    enforced(
      "CORS preflights are allowed.",
      bad("a path or query > a preflight request is allowed on any path and without an API key"),
    ),
    notModeled("HTTPS.", "The mock uses HTTP on loopback; the CLI allows HTTP only there."),
    notModeled(
      "Production and development environments.",
      "One mock server is one environment; start two servers for two environments.",
    ),
    assumed(
      "Products, models and generations made in the dashboard.",
      "PUT /_mock/… makes them. A product of the dashboard has the reference null.",
      [
        "mock/parts/parts.test.ts > a product of the dashboard > has no reference, is listed and searched, and is neither exported nor matched by imports",
        "mock/parts/parts.test.ts > a model > with a ULID is private: one organization lists it and renders on it",
        "mock/parts/parts.test.ts > an asset > can be a recoloring of the dashboard, with open attributes and unknown sizes",
      ],
    ),
    enforced("IDs are 26-character Crockford base32 ULIDs, except model IDs.", [
      ...conformance("accepts a valid request"),
      "mock/routes/images.test.ts > models > are two of the organization with ULIDs, and a dozen curated ones with shorter IDs",
    ]),
    enforced("All timestamps are RFC 3339 in UTC.", [
      ...conformance("accepts a valid request"),
      "mock/routes/exports.test.ts > a row > has exactly the product and its uploaded photo",
    ]),
    enforced(
      "Every list is {data, next_cursor, has_more}; pass next_cursor as cursor until has_more is false.",
      list("list > returns the newest products first, in pages"),
    ),
    enforced(
      "limit is 1 to 100 (default: 25).",
      list("list > accepts limits of 1 and 100, and unknown parameters", "list > rejects %s"),
      "limit page",
    ),
    enforced(
      "Cursors are opaque and keyset-based: an item that exists during the complete paging is listed exactly once, whatever is added or deleted.",
      [
        ...list(
          "list > shows every product that exists throughout the paging once, whatever is added or deleted meanwhile",
        ),
        "mock/routes/webhooks.test.ts > the list has the newest webhooks first, in stable pages while others are added and deleted",
      ],
    ),
    enforced(
      "An unusable cursor is 400 invalid_cursor on any list.",
      [
        ...list("list > rejects a cursor that is forged, altered, or of another list or organization"),
        ...conformance("rejects with %d %s"),
      ],
      "code invalid_cursor",
    ),
    assumed(
      "Unusable cursors.",
      "Forged or altered cursors, and those of another list, other filters or another organization.",
      [
        ...list("list > rejects a cursor that is forged, altered, or of another list or organization"),
        "mock/routes/exports.test.ts > live pages > reject a cursor of other filters or another organization",
      ],
    ),
    enforced(
      "The version is in the path: every path starts with /v1.",
      tables("the contract has exactly the endpoints of the specification"),
    ),
    enforced("Clients must ignore unknown fields and pass on new values of open sets.", [
      "client/client.test.ts > a response > passes on unknown fields, and unknown values of open sets",
      "contract/openapi.test.ts > an open set accepts unknown values, a closed one does not",
    ]),
    assumed(
      "An unknown value in a closed set.",
      "The client passes it on, except for values that the program relies on: the status of a job, a row or its images, and the action of a row.",
      [
        "client/lenient-reading.property.test.ts > a response with any other text in its sets, and with unknown fields, is read unchanged",
        "cli/products.test.ts > cat products shows a value that is not in the contract unchanged",
      ],
    ),
    enforced("New fields and values within a version: with --tomorrow.", [
      "mock/tomorrow/tomorrow.test.ts > every object of every response has an unknown field: lists, errors, files and events",
      "mock/tomorrow/tomorrow.test.ts > open sets have new values: roles, attributes and looks of a model",
      "cli/tomorrow.test.ts > the main commands show the same with a service that sends unknown fields",
    ]),
  ],
};
