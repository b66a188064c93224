import { describe, expect, onTestFinished, test } from "vitest";
import { json, scriptedServer, stopServers } from "../http/scripted-server.ts";
import { createWorld } from "../support/world.ts";

const photo = [0xff, 0xd8, 0xff, 0xe0];

test("cat api prints the response as one line of JSON, and adds /v1 to the path", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const [product] = world.products();
  for (const path of ["products", "/products", "/v1/products"]) {
    const ran = await world.cat(["api", "GET", `${path}/${product!.id}`]);
    expect(ran).toEqual({ exit: 0, stdout: `${JSON.stringify(product)}\n`, stderr: "" });
  }
  const whole = `${world.mock.baseUrl}/v1/products/${product!.id}`;
  expect((await world.cat(["api", "get", whole])).stdout).toBe(`${JSON.stringify(product)}\n`);
});

test("indents JSON on a terminal", async () => {
  const world = await createWorld({ mock: { demo: 0 } });
  const ran = await world.cat("api GET /products", { tty: true });
  expect(ran.stdout).toBe('{\n  "data": [],\n  "next_cursor": null,\n  "has_more": false\n}\n');
});

describe("-F and -f", () => {
  test("build JSON: numbers, booleans, null, files, lists and dotted names", async () => {
    const world = await createWorld();
    const server = await scriptedServer(json(200, {}));
    onTestFinished(stopServers);
    world.write("text.txt", "two\nlines");
    const fields = [
      "a=1",
      "b=true",
      "c=null",
      "d=@text.txt",
      "e.f=1.0",
      "g[]=x",
      "g[]=2",
      "h[].i=1",
      "h[].j=2",
    ];
    const more = ["h[].i=3", "k.0.l=007", "__proto__.m=1"];
    const argv = [...fields, ...more].flatMap((field) => ["-F", field]);
    await world.cat(["api", "POST", "/anything", ...argv, "-f", "n=1"], {
      env: { CAT_BASE_URL: server.origin },
    });
    const [sent] = server.requests;
    expect(sent).toMatchObject({ method: "POST", path: "/v1/anything" });
    expect(sent!.headers["content-type"]).toBe("application/json");
    expect(sent!.headers["idempotency-key"]).toMatch(/^[\w-]{36}$/);
    expect(sent!.body.toString()).toBe(
      '{"a":1,"b":true,"c":null,"d":"two\\nlines","e":{"f":"1.0"},"g":["x",2],' +
        '"h":[{"i":1,"j":2},{"i":3}],"k":[{"l":"007"}],"__proto__":{"m":1},"n":"1"}',
    );
  });

  test("send the content type of the operation: a merge patch, a form with a file", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    const [{ id } = { id: "" }] = world.products();
    const ran = await world.cat([
      "api",
      "PATCH",
      `/products/${id}`,
      "-F",
      "name=New name",
      "-F",
      "description=null",
    ]);
    expect(ran.exit).toBe(0);
    expect(world.products()[0]).toMatchObject({ name: "New name", description: null });
    const server = await scriptedServer(
      json(201, { id: "I", mime_type: "image/jpeg", created_at: "2026-01-01T00:00:00Z" }),
    );
    onTestFinished(stopServers);
    world.write("a.jpg", Uint8Array.from(photo));
    const env = { CAT_BASE_URL: server.origin };
    expect((await world.cat("api POST images -F file=@a.jpg", { env })).exit).toBe(0);
    expect((await world.cat("api POST images --input a.jpg", { env })).exit).toBe(0);
    for (const sent of server.requests) {
      expect(sent.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
      expect(sent.body.includes('name="file"; filename="a.jpg"')).toBe(true);
    }
  });

  test.for([
    ["api POST /x -F name", "-F needs name=value", "For example: -F name=value"],
    ["api POST /x -F =x", "-F needs name=value: the name is empty", "For example: -F name=value"],
    [
      "api POST /x -F a=1 -F a.b=2",
      "the field a.b does not fit an earlier one",
      "A name can hold one value, a list, or other names.",
    ],
    [
      "api POST /x -F a..b=2",
      'invalid name "a..b" for -F',
      "Use names such as name, size.width or images[].image_id.",
    ],
    ["api GET /x -F a=1", "a GET request has no body", "Use --query name=value, or another method."],
    ["api POST /x -F a=1 --input b", "--input cannot be used with --field", "Remove one of them."],
    ["api POST /x -F", "--field needs a value: --field NAME=VALUE", "See: cat api --help"],
    ["api HEAD /x", 'unknown method "HEAD"', "Use GET, POST, PUT, PATCH or DELETE, or only the path."],
    [
      "api /x -H a",
      'invalid --header "a": use NAME:VALUE with printable ASCII characters',
      "See: cat api --help",
    ],
    [
      ["api", "/x", "-H", "Authorization: Bearer k"],
      'invalid --header "Authorization: Bearer k": the API key comes from cat login or CAT_API_KEY',
      "See: cat api --help",
    ],
    [
      "api /x -H Idempotency-Key:k",
      'invalid --header "Idempotency-Key:k": use --idempotency-key KEY',
      "See: cat api --help",
    ],
    ["api /x -H Host:h", 'invalid --header "Host:h": host is set by the program', "See: cat api --help"],
    [
      "api /x --idempotency-key k",
      "a GET request has no idempotency key",
      "Remove it: a GET request changes nothing.",
    ],
    ["api GET /x --query a", "--query needs name=value", "For example: --query name=value"],
    [
      "api GET /x#y",
      'invalid path "/x#y"',
      "Use the path of a request, for example /products or /products/ID.",
    ],
    ["api GET", "missing argument: PATH", "For example: cat api GET /products"],
    ["api", "missing argument: PATH", "For example: cat api /products"],
    [
      ["api", "GET", "/products\n/x"],
      'invalid path "/products\\n/x"',
      "Use the path of a request, for example /products or /products/ID.",
    ],
  ] as const)("rejects %s", async ([line, message, hint]) => {
    const world = await createWorld();
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr: `error: ${message}\n${hint}\n` });
    expect(world.requests()).toEqual([]);
  });
});

test("--input sends a file or standard input unchanged; several JSON lines are NDJSON", async () => {
  const world = await createWorld();
  const server = await scriptedServer(json(200, {}));
  onTestFinished(stopServers);
  const env = { CAT_BASE_URL: server.origin };
  world.write("rows.txt", '{"a":1}\n{"a":2}\n');
  await world.cat("api POST /x --input rows.txt", { env });
  await world.cat("api POST /x --input -", { env, stdin: '{ "a": 1.0 }' });
  expect(server.requests.map(({ headers, body }) => [headers["content-type"], body.toString()])).toEqual([
    ["application/x-ndjson", '{"a":1}\n{"a":2}\n'],
    ["application/json", '{ "a": 1.0 }'],
  ]);
});

test.each([
  ["body.json", '{"name":"Grün"}', "application/json"],
  ["rows.ndjson", '{"reference":"A"}\n{"reference":"Ü"}\n', "application/x-ndjson"],
])("--input sends the text of %s in UTF-8, also as PowerShell writes it", async (file, text, type) => {
  const world = await createWorld();
  const server = await scriptedServer(json(200, {}), json(200, {}));
  onTestFinished(stopServers);
  for (const encoding of ["utf8", "utf16le"] as const) {
    world.write(file, Buffer.from(`\ufeff${text}`, encoding));
    await world.cat(`api POST /x --input ${file}`, { env: { CAT_BASE_URL: server.origin } });
  }
  expect(server.requests.map(({ headers, body }) => [headers["content-type"], body.toString()])).toEqual([
    [type, text],
    [type, text],
  ]);
});

test.each(["row.ndjson", "row.JSONL"])("--input sends one row of %s as NDJSON", async (file) => {
  const world = await createWorld();
  const row = { reference: "A-1", name: "Coat", images: [{ url: "https://cdn.example.com/a.jpg" }] };
  world.write(file, `${JSON.stringify(row)}\n`);
  const { exit, stdout, stderr } = await world.cat(`api POST /imports --input ${file}`);
  expect([exit, stderr, JSON.parse(stdout).status]).toEqual([0, "", "validating"]);
});

test("--paginate prints all entries as NDJSON, with and without --json", async () => {
  const world = await createWorld({ mock: { demo: 5 } });
  const listed = await world.cat("products list --all --json");
  for (const flags of ["", " --json"]) {
    const ran = await world.cat(`api GET /products --paginate --query limit=2${flags}`);
    expect(ran).toEqual({ ...listed, stderr: "" });
  }
  expect(world.requests().filter(({ path }) => path.includes("limit=2"))).toHaveLength(6);
  expect(await world.cat("api GET /products/ID --paginate")).toMatchObject({ exit: 2 });
});

test("a failed page ends the stream after complete lines", async () => {
  const world = await createWorld();
  const page = { data: [{ id: "A" }], next_cursor: "C", has_more: true };
  const failed = { error: { type: "invalid_request", code: "invalid_cursor", message: "invalid cursor" } };
  const server = await scriptedServer((response, seen) =>
    (seen.path.includes("cursor=") ? json(400, failed) : json(200, page))(response, seen),
  );
  onTestFinished(stopServers);
  expect(await world.cat("api GET /new --paginate", { env: { CAT_BASE_URL: server.origin } })).toEqual({
    exit: 3,
    stdout: '{"id":"A"}\n',
    stderr:
      "error: invalid cursor (GET /v1/new: 400 invalid_cursor, request req_server)\n" +
      "Read the list again from its first page.\n",
  });
});

test.each([[["C"]], [{ toString: 1 }]])(
  "--paginate exits with 7 for a cursor that is %j",
  async (next_cursor) => {
    const world = await createWorld();
    const server = await scriptedServer(json(200, { data: [{ id: "A" }], next_cursor, has_more: true }));
    onTestFinished(stopServers);
    expect(await world.cat("api GET /new --paginate", { env: { CAT_BASE_URL: server.origin } })).toEqual({
      exit: 7,
      stdout: "",
      stderr: "error: GET /v1/new did not return a list\nRun the command again without --paginate.\n",
    });
    expect(server.requests).toHaveLength(1);
  },
);

test("--include prints the status and the headers; with --json one object", async () => {
  const world = await createWorld();
  const server = await scriptedServer(json(200, { a: "\u001b[1m" }, { "x-one": "1" }));
  onTestFinished(stopServers);
  const env = { CAT_BASE_URL: server.origin };
  const ran = await world.cat("api GET /x --include", { env });
  expect(ran.stdout).toMatch(
    /^HTTP\/1\.1 200 OK\n(?:[\w-]+: .*\n)*x-one: 1\n(?:[\w-]+: .*\n)*\n\{"a":"\\u001b\[1m"\}\n$/,
  );
  const object = JSON.parse((await world.cat("api GET /x --include --json", { env })).stdout);
  expect(object).toMatchObject({ status: 200, headers: { "x-one": "1" }, body: { a: "\u001b[1m" } });
});

test("an error prints the envelope on stdout and exits by its status", async () => {
  const world = await createWorld();
  const envelope =
    '{"error":{"type":"not_found","code":"product_not_found","message":"product not found"}}\n';
  const ran = await world.cat("api GET /products/NOPE");
  expect(ran).toMatchObject({ exit: 5, stdout: envelope });
  expect(ran.stderr).toMatch(
    /^error: product not found \(GET \/v1\/products\/NOPE: 404 product_not_found, request /,
  );
  const near = await world.cat("api GET /product");
  expect(near.stderr).toMatch(/\nDid you mean \/v1\/products\?\n$/);
  const other = await world.cat("api DELETE /products");
  expect(other).toMatchObject({ exit: 3 });
  expect(other.stderr).toMatch(/\nThe service has POST \/v1\/products and GET \/v1\/products\.\n$/);
  expect(await world.cat("api GET /products", { env: { CAT_API_KEY: "ak_wrong_key" } })).toMatchObject({
    exit: 4,
  });
});

test.for([
  "https://evil.example.com/v1/products",
  "http://127.0.0.1:1/v1/products",
  "http://u:p@HOST/v1/products",
])("cat api sends nothing to another address than the base URL: %s", async (url) => {
  const world = await createWorld();
  const ran = await world.cat(["api", "GET", url.replace("HOST", new URL(world.mock.baseUrl).host)]);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toMatch(/ is not the base URL, .*\nThe API key is sent to the base URL only\. /);
  expect(world.requests()).toEqual([]);
});

test.for(["//evil.example.com/x", "/../../x", "@evil.example.com"])(
  "cat api keeps an odd path at the base URL: %s",
  async (path) => {
    const world = await createWorld();
    expect(await world.cat(["api", "GET", path])).toMatchObject({ exit: 5 });
    expect(world.requests()).toHaveLength(1);
  },
);

test("a new signing secret is shown, and the API key is masked", async () => {
  const world = await createWorld();
  const ran = await world.cat([
    "api",
    "POST",
    "/webhooks",
    "-F",
    "url=http://127.0.0.1:1/",
    "-F",
    "events[]=task.succeeded",
  ]);
  const { signing_secret: secret } = JSON.parse(ran.stdout) as { signing_secret: string };
  expect(secret).toMatch(/^whsec_\w{16,}/);
  const server = await scriptedServer(
    json(200, { echo: "ak_canary_0123456789", secret: "whsec_0123456789abcdef" }),
  );
  onTestFinished(stopServers);
  const env = { CAT_BASE_URL: server.origin, CAT_API_KEY: "ak_canary_0123456789" };
  const echoed = await world.cat("api GET /x --include --verbose", { env });
  expect(`${echoed.stdout}${echoed.stderr}`).not.toMatch(/canary_0123456789|whsec_0123456789abcdef/);
});

test("the method is GET without a body and POST with one", async () => {
  const world = await createWorld();
  const server = await scriptedServer(json(200, {}));
  onTestFinished(stopServers);
  world.write("body.json", "{}");
  const env = { CAT_BASE_URL: server.origin };
  for (const line of [
    "api x",
    "api /x -F a=1",
    "api /x -f a=1",
    "api /x --input body.json",
    "api put x -F a=1",
  ])
    await world.cat(line, { env });
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/x",
    ...["POST /v1/x", "POST /v1/x", "POST /v1/x", "PUT /v1/x"],
  ]);
});

test("-H adds headers or replaces those of the program, and --idempotency-key sets the key", async () => {
  const world = await createWorld();
  const server = await scriptedServer(json(200, {}));
  onTestFinished(stopServers);
  const headers = [
    "-H",
    "X-Request-Id: run-7",
    "-H",
    "accept:text/plain",
    "-H",
    "X-Request-Id: run-8",
    "-H",
    "X-Empty:",
  ];
  await world.cat(["api", "/x", "-F", "a=1", ...headers, "--idempotency-key", "k-1"], {
    env: { CAT_BASE_URL: server.origin },
  });
  expect(server.requests[0]!.headers).toMatchObject({
    "x-request-id": "run-8",
    accept: "text/plain",
    "x-empty": "",
    "idempotency-key": "k-1",
    authorization: "Bearer ak_mock",
  });
});

test("--idempotency-key carries a request out once, and the key with another body is rejected", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const hook = (event: string) =>
    world.cat(
      `api /webhooks -F url=https://x.example.com/h -F events[]=${event} --idempotency-key k-1 --json`,
    );
  const [first, again] = [await hook("task.failed"), await hook("task.failed")];
  expect([again.exit, again.stdout]).toEqual([0, first.stdout]);
  expect(await hook("task.succeeded")).toMatchObject({
    exit: 3,
    stderr: expect.stringMatching(
      /idempotency_key_reused.*Use another --idempotency-key, or repeat the request unchanged\./,
    ),
  });
  expect(JSON.parse((await world.cat("api /webhooks --json")).stdout).data).toHaveLength(1);
});

test("reaches the control routes of the mock server and its OpenAPI document", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  expect(await world.cat("api /_mock/account")).toMatchObject({
    exit: 0,
    stdout: '{"organization":"main","credits":null}\n',
  });
  expect((await world.cat("api /openapi.json")).stdout).toContain('"openapi":"3.1');
});

test("the examples of the help work", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const [product, other] = world.products();
  const lines = (await world.cat("api --help")).stdout.match(/(?<=^ {2}\$ cat ).*/gm)!;
  expect(lines).toHaveLength(5);
  for (const line of lines) {
    const [request] = line.replace("image_id=ID", `image_id=${other!.images[0]!.id}`).split(" | ");
    expect([line, await world.cat(request!.replace("/ID", `/${product!.id}`))]).toEqual([
      line,
      { exit: 0, stdout: expect.any(String), stderr: "" },
    ]);
  }
  expect(world.products()[0]!.images.at(-1)).toMatchObject({
    id: other!.images[0]!.id,
    orientation: "front",
  });
});
