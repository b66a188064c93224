import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { answersIn, portOf, type RawAnswer, talk } from "../raw.ts";
import { startWorld } from "../world.ts";

const key = "Host: x\r\nAuthorization: Bearer ak_mock\r\n";
const get = (target: string, more = "", method = "GET") =>
  `${method} ${target} HTTP/1.1\r\n${key}${more}\r\n`;
const post = (body: string, path = "/v1/products") =>
  `POST ${path} HTTP/1.1\r\n${key}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (body: string) =>
  `POST /v1/products HTTP/1.1\r\n${key}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

/** Describes a response: its status, and the code and field of an error. */
const summaryOf = ({ status, body }: RawAnswer): string => {
  const { code, param } = body.startsWith('{"error"')
    ? JSON.parse(body).error
    : { code: undefined, param: undefined };
  return [status, code, param].filter((part) => part !== undefined).join(" ");
};
const deep = (levels: number, field: string) => `{"${field}":${"[".repeat(levels)}${"]".repeat(levels)}}`;

/** Each line has the request and its expected responses; "closed" if the mock must close the connection. */
const table: [what: string, sent: string | Buffer, expected: string[], closed?: "closed"][] = [
  ["HEAD", get("/v1/products", "", "HEAD"), ["405"]],
  ["OPTIONS for nothing", get("*", "", "OPTIONS"), ["204"]],
  ["TRACE", get("/v1/products", "", "TRACE"), ["405 method_not_allowed"]],
  ["CONNECT", get("a.example.com:443", "", "CONNECT"), ["405 method_not_allowed"], "closed"],
  ["a double slash", get("//v1/products"), ["404 route_not_found"]],
  ["a host in the path", get("//example.com/_mock/requests"), ["404 route_not_found"]],
  ["two dots", get("/v1/../v1/products"), ["404 route_not_found"]],
  ["two encoded dots", get("/v1/%2e%2e/_mock/requests"), ["404 route_not_found"]],
  ["a NUL in the path", get("/v1/products/\0"), ["400 invalid_request"], "closed"],
  ["an encoded NUL", get("/v1/products/%00"), ["404 product_not_found"]],
  ["UTF-8 in the path", get("/v1/products/é"), ["400 invalid_request"], "closed"],
  ["a star", get("*"), ["404 route_not_found"]],
  ["no slash", get("v1/products"), ["400 invalid_request"], "closed"],
  ["a query that cannot be decoded", get("/v1/products?q=%ff%zz&limit=1"), ["400 invalid_request q"]],
  ["limit twice", get("/v1/products?limit=1&limit=2"), ["400 invalid_request limit"]],
  ["q twice", get("/v1/products?q=a&q=a"), ["400 invalid_request q"]],
  ["cursor twice", get("/v1/products?cursor=a&cursor=b"), ["400 invalid_request cursor"]],
  ["names such as __proto__ in the query", get("/v1/products?__proto__=1&constructor=2&toString=3"), ["200"]],
  ["names such as __proto__ in headers", get("/v1/products", "__proto__: x\r\nconstructor: y\r\n"), ["200"]],
  ["a limit in exponents", get("/v1/products?limit=1e1"), ["400 invalid_request limit"]],
  ["a limit with a sign", get("/v1/products?limit=%2B5"), ["400 invalid_request limit"]],
  ["a limit of 20 digits", get(`/v1/products?limit=${"9".repeat(20)}`), ["400 invalid_request limit"]],
  ["no limit", get("/v1/products?limit="), ["400 invalid_request limit"]],
  ["no cursor", get("/v1/products?cursor="), ["400 invalid_cursor cursor"]],
  ["a field twice, the last one counting", post('{"name":"a","name":1}'), ["400 invalid_request name"]],
  [
    "names such as __proto__ in JSON",
    post('{"__proto__":{"name":"N"},"constructor":1}'),
    ["400 invalid_request name"],
  ],
  ["a number out of range", post('{"name":1e400}'), ["400 invalid_request name"]],
  ["a number of 100,000 digits", post(`{"name":${"9".repeat(100_000)}}`), ["400 invalid_request name"]],
  [
    "lone surrogates",
    post('{"name":"\\ud800","reference":"\\udc00","images":[]}'),
    ["400 invalid_request images"],
  ],
  ["10,000 levels", post(deep(10_000, "name")), ["400 invalid_request"]],
  ["10,000 levels of rows", post(deep(10_000, "rows"), "/v1/imports"), ["400 invalid_request"]],
  [
    "1,500 headers",
    get("/v1/products", Array.from({ length: 1_500 }, (_, at) => `X-${at}: y\r\n`).join("")),
    ["200"],
  ],
  [
    "a header of 40,000 bytes",
    get("/v1/products", `X: ${"y".repeat(40_000)}\r\n`),
    ["431 headers_too_large"],
    "closed",
  ],
  ["five in a row", get("/v1/products").repeat(5), ["200", "200", "200", "200", "200"]],
  [
    "two, then garbage",
    `${get("/v1/products").repeat(2)}GARBAGE\r\n\r\n`,
    ["200", "200", "400 invalid_request"],
    "closed",
  ],
  ["a body, then another request", post("{}") + get("/v1/products"), ["400 invalid_request name", "200"]],
  [
    "a body for GET",
    `${get("/v1/products", "Content-Length: 5\r\n")}hello${get("/v1/products")}`,
    ["200", "200"],
  ],
  ["chunks with extensions", chunked("2;a=b\r\n{}\r\n0\r\n\r\n"), ["400 invalid_request name"]],
  ["chunks with trailers", chunked("2\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n"), ["400 invalid_request name"]],
  ["a chunk of a negative size", chunked("-2\r\n{}\r\n0\r\n\r\n"), ["400 invalid_request"], "closed"],
  ["a chunk of a huge size", chunked(`${"f".repeat(18)}\r\n{}\r\n`), ["400 invalid_request"], "closed"],
  [
    "40,000 bytes of extensions",
    chunked(`2;${"a".repeat(40_000)}\r\n{}\r\n`),
    ["400 invalid_request"],
    "closed",
  ],
  [
    "40,000 bytes of trailers",
    chunked(`2\r\n{}\r\n0\r\nX: ${"a".repeat(40_000)}\r\n\r\n`),
    ["431 headers_too_large"],
    "closed",
  ],
  [
    "an unknown transfer coding",
    get("/v1/products", "Transfer-Encoding: gzip\r\n", "POST"),
    ["400 invalid_request"],
    "closed",
  ],
  ["an upgrade", get("/v1/products", "Connection: Upgrade\r\nUpgrade: websocket\r\n"), ["200"]],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ["400 invalid_request"], "closed"],
  ["HTTP/0.9", "GET /v1/products\r\n\r\n", ["401 missing_api_key"], "closed"],
  ["lines that end in LF", "GET /v1/products HTTP/1.1\nHost: x\n\n", ["400 invalid_request"], "closed"],
  ["a folded header", get("/v1/products", "X: a\r\n b\r\n"), ["400 invalid_request"], "closed"],
  ["a space before the colon", get("/v1/products", "X : a\r\n"), ["400 invalid_request"], "closed"],
  ["empty lines first", `\r\n\r\n${get("/v1/products")}`, ["200"]],
  [
    "bytes outside ASCII in headers",
    Buffer.from(get("/v1/products", "X-Request-Id: \xe9\r\nX: \xff\r\n"), "latin1"),
    ["200"],
  ],
];

/** Number of complete responses; 0 while one is still arriving. */
function count(text: string, isHead: boolean): number {
  try {
    return answersIn(text, isHead).length;
  } catch {
    return 0;
  }
}

describe("an odd request gets a clear response:", () => {
  test.each(table)("%s", async (_what, sent, expected, closed) => {
    const { mock, send } = await startWorld({ rateLimit: { reads: 600, writes: 60 } });
    const isHead = String(sent).startsWith("HEAD");
    const all = (text: string) => closed === undefined && count(text, isHead) === expected.length;
    const came = await talk(portOf(mock.baseUrl), [sent], { enough: all });
    const answers = answersIn(came.text, isHead);
    expect(answers.map(summaryOf)).toEqual(expected);
    expect(came.closed).toBe(closed === "closed");
    for (const { headers } of answers) {
      expect(headers.get("x-request-id")).toMatch(/^req_/);
      expect(headers.get("x-ratelimit-limit")).toMatch(/^(600|60)$/);
    }
    expect((await send("/v1/products")).status).toBe(200);
  });
});

describe("a client that waits for 100 Continue", () => {
  const asking = (more: string, path = "/v1/products") =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n${more}\r\n`;
  const auth = "Authorization: Bearer ak_mock\r\n";

  test("gets it if the body is needed", async () => {
    const { mock } = await startWorld();
    const port = portOf(mock.baseUrl);
    const request = asking(`${auth}Content-Length: 2\r\n`);
    const { text } = await talk(port, [request], { enough: (text) => count(text, false) === 1 });
    expect(text).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    const came = await talk(port, [`${request}{}`], { enough: (text) => count(text, false) === 2 });
    expect(answersIn(came.text).map(summaryOf)).toEqual(["100", "400 invalid_request name"]);
  });

  test.each([
    ["with a body too large", `${auth}Content-Length: 99999999\r\n`, "413 body_too_large"],
    ["without a key", "Content-Length: 9\r\n", "401 missing_api_key"],
  ])("%s is rejected at once, without 100 Continue", async (_what, more, expected) => {
    const { mock } = await startWorld();
    const came = await talk(portOf(mock.baseUrl), [asking(more)], {
      enough: (text) => count(text, false) === 1,
    });
    expect(answersIn(came.text).map(summaryOf)).toEqual([expected]);
  });
});

test("hundreds of silent or incomplete connections do not delay other clients", async () => {
  const { mock, send } = await startWorld();
  const port = portOf(mock.baseUrl);
  const sockets = await Promise.all(
    Array.from(
      { length: 400 },
      (_, at) =>
        new Promise<ReturnType<typeof connect>>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => {
            if (at % 2 === 0) socket.write("POST /v1/products HTTP/1.1\r\nHost: x\r\nContent-Len");
            resolve(socket);
          });
          socket.on("error", () => {});
        }),
    ),
  );
  for (let time = 0; time < 20; time++) expect((await send("/v1/products")).status).toBe(200);
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([]);
  for (const socket of sockets) socket.destroy();
});
