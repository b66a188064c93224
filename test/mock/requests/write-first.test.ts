import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { answersIn, portOf } from "../raw.ts";
import { refusal, startWorld } from "../world.ts";

// Some clients write the complete request before they read, such as Python's urllib. They must get a
// response that is sent before the body has arrived.

/** Writes all of `request`, then reads until the mock closes the connection; rejects if a write fails. */
function writeFirst(port: number, request: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    socket.on("error", reject);
    for (const part of request) socket.write(part);
    socket.write("", () => {
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
      });
      socket.on("end", () => resolve(text));
    });
  });
}

const mebibyte = Buffer.alloc(1024 * 1024, "x");

type Coding = "content-length" | "chunked";

/** A request with Connection: close, like those of urllib. */
function requestOf(line: string, headers: readonly string[], coding: Coding, mebibytes: number): Buffer[] {
  const length =
    coding === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${mebibytes * mebibyte.length}`;
  const head = [`${line} HTTP/1.1`, "Host: localhost", "Connection: close", length, ...headers].join("\r\n");
  const parts = Array(mebibytes).fill(mebibyte);
  const body =
    coding === "chunked"
      ? [
          ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, crlf]),
          Buffer.from("0\r\n\r\n"),
        ]
      : parts;
  return [Buffer.from(`${head}\r\n\r\n`), ...body];
}
const crlf = Buffer.from("\r\n");

const key = "Authorization: Bearer ak_mock";
const json = "Content-Type: application/json";

describe.each(["content-length", "chunked"] as const)(
  "a client that writes 12 MiB (%s) before reading",
  (coding) => {
    test.each([
      ["413", "POST /v1/products", [key, json], "body_too_large"],
      [
        "413 for an import",
        "POST /v1/imports",
        [key, "Content-Type: application/x-ndjson"],
        "body_too_large",
      ],
      ["401", "POST /v1/products", [json], "missing_api_key"],
      ["401 for an unknown key", "POST /v1/imports", ["Authorization: Bearer ak_x", json], "invalid_api_key"],
      ["403", "POST /v1/products", ["Authorization: Bearer ak_mock_readonly", json], "insufficient_scope"],
      ["404", "POST /v1/nothing", [key, json], "route_not_found"],
      ["404 for a control route", "POST /_mock/nothing", [json], "route_not_found"],
      ["405", "PUT /v1/products", [key, json], "method_not_allowed"],
      ["405 for an unknown method", "PROPFIND /v1/products", [key, json], "method_not_allowed"],
      ["414", `POST /${"a".repeat(9_000)}`, [key, json], "uri_too_long"],
      ["431", "POST /v1/products", [key, `X: ${"y".repeat(40_000)}`], "headers_too_large"],
      ["400 for a header without a colon", "POST /v1/products", [key, "hello"], "invalid_request"],
      ["400 for two Hosts", "POST /v1/products", [key, "Host: other"], "invalid_request"],
    ] as const)("gets the response: %s", async (name, line, headers, code) => {
      const { mock } = await startWorld();
      const port = portOf(mock.baseUrl);
      const [got, ...more] = answersIn(await writeFirst(port, requestOf(line, headers, coding, 12)));
      expect([got?.status, got && JSON.parse(got.body).error.code]).toEqual([Number(name.slice(0, 3)), code]);
      expect(more).toEqual([]);
    });

    test("gets a 415", async () => {
      const { mock } = await startWorld();
      const request = requestOf("POST /v1/images", [key, "Content-Type: text/csv"], coding, 10);
      const [got] = answersIn(await writeFirst(portOf(mock.baseUrl), request));
      expect([got?.status, got && JSON.parse(got.body)]).toEqual([
        415,
        refusal("invalid_request", "unsupported_media_type"),
      ]);
    });

    test("gets a 429 with its Retry-After", async () => {
      const { mock, send } = await startWorld({ rateLimit: { reads: 1, writes: 1 } });
      await send("/v1/products/none", { method: "DELETE" });
      const request = requestOf("POST /v1/imports", [key, json], coding, 12);
      const [got] = answersIn(await writeFirst(portOf(mock.baseUrl), request));
      expect([got?.status, got?.headers.get("retry-after")]).toEqual([429, "60"]);
    });

    test("gets a success that ignores the body", async () => {
      const { mock } = await startWorld();
      const request = requestOf("GET /v1/products", [key], coding, 12);
      const [got] = answersIn(await writeFirst(portOf(mock.baseUrl), request));
      expect(got?.status).toBe(200);
    });
  },
);

test("a client that writes before reading gets the response to the next request on the same connection", async () => {
  const { mock } = await startWorld();
  const [head, ...body] = requestOf("POST /v1/products", [key, json], "content-length", 12);
  const kept = Buffer.from(head!.toString().replace("Connection: close\r\n", ""));
  const next = Buffer.from(`GET /v1/models HTTP/1.1\r\nHost: x\r\n${key}\r\nConnection: close\r\n\r\n`);
  const got = answersIn(await writeFirst(portOf(mock.baseUrl), [kept, ...body, next]));
  expect(got.map(({ status }) => status)).toEqual([413, 200]);
});

test("a client that reads first gets the response before it sends the body", async () => {
  const { mock } = await startWorld();
  const [head] = requestOf("POST /v1/products", [key, json], "content-length", 12);
  const text = await new Promise<string>((resolve) => {
    const socket = connect(portOf(mock.baseUrl), "127.0.0.1", () => socket.write(head!));
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(chunk.toString());
    });
  });
  expect(answersIn(text)[0]?.status).toBe(413);
});

/** Sends 12 MiB to each path, with Content-Length and chunked, and prints the statuses. */
const python = `
import sys, urllib.request, urllib.error
base, times, body = sys.argv[1], int(sys.argv[2]), b"x" * (12 * 1024 * 1024)
chunks = lambda: (body[at:at + 65536] for at in range(0, len(body), 65536))
for data in [lambda: body, chunks]:
    for path, key in [("/v1/products", "ak_mock")] * times + [("/v1/imports", "ak_mock"), ("/v1/products", "ak_x"), ("/v1/nothing", "ak_mock")]:
        headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
        try:
            urllib.request.urlopen(urllib.request.Request(base + path, data=data(), headers=headers, method="POST"))
        except urllib.error.HTTPError as error:
            error.read()
            print(error.code)
        except Exception as error:
            print(error)
`;

import { longTest } from "../../support/long-test.ts";

longTest("Python's urllib gets the response", async ({ skip }) => {
  const run = promisify(execFile);
  const hasPython = await run("python3", ["--version"]).then(
    () => true,
    () => false,
  );
  skip(!hasPython, "python3 is not installed");
  const { mock } = await startWorld();
  const times = repetitions(1, 20);
  const { stdout } = await run("python3", ["-c", python, mock.baseUrl, `${times}`]);
  const each = [...Array(times + 1).fill("413"), "401", "404"];
  expect(stdout.trimEnd().split("\n")).toEqual([...each, ...each]);
});
