import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const conformance = inFile("conformance/every-operation.test.ts");
const bad = inFile("mock/bad-requests.test.ts");
const keys = inFile("mock/keys-and-limits.test.ts");
const list = inFile("mock/products.test.ts");
const tables = inFile("contract/tables.test.ts");

/** The service as a whole: what it is for, ids and times, lists, versions. */
export const service: Section = {
  title: "The service, its resources and lists",
  clauses: [
    enforced(
      "Every endpoint of the specification is there, with its method, path and status, and no other.",
      [
        ...tables("exactly the endpoints of the specification"),
        ...conformance("answers a request that is right"),
      ],
    ),
    enforced("Every resource has exactly the fields of its table.", [
      ...tables("the fields of"),
      ...conformance("answers a request that is right"),
    ]),
    enforced("Every set of values is the specification's.", tables("the values of %s")),
    enforced("Everything belongs to the organization of the key; another one sees nothing of it.", [
      ...keys("keys > another organization sees nothing of the first"),
      "mock/exports.test.ts > live pages > another organization sees nothing",
      "mock/webhooks.test.ts > another organization sees none of it",
    ]),
    enforced(
      "CORS preflights are answered permissively.",
      bad("a place that is not there > a preflight is answered permissively, anywhere and without a key"),
    ),
    notModelled("HTTPS.", "The fake speaks HTTP on loopback; the tool allows that there and nowhere else."),
    notModelled(
      "Production and development environments.",
      "One fake is one environment; start two for two.",
    ),
    notModelled(
      "Products, models and generations made in the dashboard.",
      "There is no dashboard: every product was created through the API, every task has an id.",
    ),
    enforced("Ids are 26-character Crockford base32 ULIDs, but for those of models.", [
      ...conformance("answers a request that is right"),
      "mock/images.test.ts > models > two of the organization's own with ULIDs, a dozen curated ones with shorter ids",
    ]),
    enforced("All timestamps are RFC 3339 in UTC.", [
      ...conformance("answers a request that is right"),
      "mock/exports.test.ts > a row > has the product and the caller's own photo, exactly",
    ]),
    enforced(
      "Every list is {data, next_cursor, has_more}; next_cursor is given back as cursor until has_more is false.",
      list("list > newest first, in pages"),
    ),
    enforced(
      "limit is 1 to 100, 25 unless told.",
      list("list > limits of 1 and 100, and parameters nobody knows, are fine", "list > %s is refused"),
      "limit page",
    ),
    enforced(
      "Cursors are opaque and keyset-based: paging shows everything that was there throughout once, whatever comes and goes.",
      [
        ...list(
          "list > paging shows everything that was there throughout, once, whatever is added and deleted meanwhile",
        ),
        "mock/webhooks.test.ts > the list is newest first, page by page, also while some come and go",
      ],
    ),
    enforced(
      "An unusable cursor is 400 invalid_cursor on any list.",
      [
        ...list("list > a cursor made up, altered, of another list or of another organization is refused"),
        ...conformance("refuses with %d %s"),
      ],
      "code invalid_cursor",
    ),
    assumed(
      "Which cursor is unusable.",
      "One that was made up or altered, or belongs to another list, other filters or another organization.",
      [
        ...list("list > a cursor made up, altered, of another list or of another organization is refused"),
        "mock/exports.test.ts > live pages > a cursor belongs to its filters and its organization",
      ],
    ),
    enforced(
      "The version lives in the path: everything begins with /v1.",
      tables("exactly the endpoints of the specification"),
    ),
    enforced("Clients must ignore fields they do not know and pass on new values of open sets.", [
      "client/client.test.ts > what comes back > unknown fields and unknown values of open sets are passed on",
      "contract/openapi.test.ts > a set that may grow takes values that are newer, a closed one does not",
    ]),
    assumed(
      "A value that a closed set does not have.",
      "The client passes it on, unless the program relies on it: status of a job, a row or its images, and a row's action.",
      [
        "client/lenient-reading.property.test.ts > a response with any other text in its sets, and with unknown fields, is read as it is",
        "cli/products.test.ts > a value that the contract does not know is shown as it is",
      ],
    ),
    notModelled(
      "New fields and values within a version.",
      "The fake answers what the specification has today.",
    ),
  ],
};
