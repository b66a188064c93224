import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { clauses } from "../../src/flows/catalogue/service-check/ask-service.ts";
import { twistingProxy } from "../flows/catalogue/service-check/twisting-proxy.ts";
import { gateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { createWorld, type Running, type TestWorld } from "../support/world.ts";

const asked = clauses.filter((clause) => "ask" in clause).length;
/** Changes something of the mock (interface, serve --mock). */
const control = (world: TestWorld, method: string, path: string, body: object) =>
  fetch(`${world.mock.baseUrl}/_mock/${path}`, { method, body: JSON.stringify(body) });

test("cat doctor --service --write asks about each clause, deletes its product and exits with 0", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const { exit, stdout, stderr } = await world.cat("doctor --service --write --yes");
  expect(exit).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(clauses.length);
  expect(lines[0]).toBe(
    "not asked  Products, models and generations made in the dashboard: the API does not show what was made in the dashboard",
  );
  expect(lines[1]).toBe("confirmed  Unusable cursors.");
  expect(stderr).toContain(`${asked} confirmed, 0 differences, ${clauses.length - asked} not asked.\n`);
  expect(world.products()).toHaveLength(3);
});

test("cat doctor --service --json has the service, the time and each clause, and only reads", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const before = world.requests().length;
  const { exit, stdout } = await world.cat("doctor --service --json");
  expect(exit).toBe(0);
  const { service, asked_at, write, clauses: found } = JSON.parse(stdout);
  expect([service, asked_at, write]).toEqual([world.mock.baseUrl, expect.stringMatching(/^2026-/), false]);
  expect(found.find(({ clause }: { clause: string }) => clause === "Unknown fields of a body.")).toEqual({
    clause: "Unknown fields of a body.",
    status: "not_asked",
    message: "it needs --write",
  });
  const methods = world
    .requests()
    .slice(before)
    .map(({ method }) => method);
  expect(new Set(methods)).toEqual(new Set(["GET"]));
});

test("a service that differs is exit 8, with what it does instead", async () => {
  const world = await createWorld();
  await control(world, "POST", "faults", {
    ...{ match: { method: "GET", path: "/v1/exports" }, status: 200 },
    body: { data: [], next_cursor: null, has_more: false },
  });
  const { exit, stdout, stderr } = await world.cat("doctor --service");
  expect(exit).toBe(8);
  expect(stdout).toContain(
    'differs    A role that does not exist: 200, type null, param null; assumed: 400, type "invalid_request", param "role"\n',
  );
  expect(stderr).toContain(", 1 difference, ");
});

test("a key that may not write leaves those clauses unasked", async () => {
  const world = await createWorld();
  await control(world, "PUT", "keys/ak_reader", { scopes: ["products:read", "models:read", "exports:read"] });
  const { exit, stdout, stderr } = await world.cat("doctor --service --write --yes", {
    env: { CAT_API_KEY: "ak_reader" },
  });
  expect(exit).toBe(0);
  expect(stderr).toContain(" 0 differences");
  expect(stdout).toMatch(/not asked {2}Unknown fields of a body: the key may not: /);
});

test("Ctrl-C in the middle deletes the product", async () => {
  const world = await createWorld();
  await control(world, "POST", "faults", { match: { method: "PATCH", path: "/v1/products" }, delay: 60_000 });
  const running = world.cat("doctor --service --write --yes");
  await until(() => world.requests().some(({ method }) => method === "PATCH"));
  running.interrupt();
  expect((await running).exit).toBe(130);
  expect(world.products()).toEqual([]);
});

test("a product that cannot be deleted is named with its command, after all results", async () => {
  const world = await createWorld();
  await control(world, "POST", "faults", { match: { method: "DELETE", path: "/v1/products" }, status: 403 });
  const { exit, stdout, stderr } = await world.cat("doctor --service --write --yes --json");
  expect(exit).toBe(4);
  expect(JSON.parse(stdout).clauses).toHaveLength(clauses.length);
  const [product] = world.products();
  expect(JSON.parse(stdout).left).toEqual([product!.id]);
  expect(stderr).toContain("insufficient_scope");
  const shown = await world.cat("doctor --service --write --yes");
  expect(shown.stderr).toMatch(/^Product \w{26} may be left\. To delete it: cat products delete \w{26}$/m);
});

test("products that a service accepts although it should reject them are deleted", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const images = [{ image_id: world.products()[0]!.images[0]!.id, orientation: "front" }];
  const url = await twistingProxy(world.mock.baseUrl, {
    request: (passing) => {
      if (passing.body.includes('"  "'))
        passing.body = JSON.stringify({ name: "Any", reference: "any", images });
    },
  });
  const ran = await world.cat("doctor --service --write --yes", { env: { CAT_BASE_URL: url } });
  expect(ran.exit).toBe(8);
  expect(ran.stdout).toContain("differs    A name that is only whitespace: 201");
  expect(world.products()).toHaveLength(1);
});

test.each([
  ["a page", 200, "<h1>Welcome</h1>", "text/html", 7],
  ["null", 200, "null", "application/json", 8],
  ["403", 403, '{"error":{"type":"forbidden","code":"forbidden","message":"no"}}', "application/json", 8],
])(
  "a server that responds to everything with %s is no service: exit %s",
  async (_, status, body, type, exit) => {
    const server = createServer((_request, response) =>
      response.writeHead(status, { "content-type": type }).end(body),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const world = await createWorld();
    const ran = await world.cat("doctor --service", { env: { CAT_BASE_URL: `http://127.0.0.1:${port}` } });
    expect(ran.stderr).not.toContain("internal error");
    expect(ran.exit).toBe(exit);
  },
);

test("Ctrl-C while an import is processed waits for its end, and deletes what it has created again", async () => {
  const world = await createWorld();
  let running: Running | null = null;
  const { url } = await gateway(world.mock.baseUrl, ({ method, path }) => {
    if (method === "GET" && /^\/v1\/imports\/\w+$/.test(path)) running?.interrupt();
    return null;
  });
  running = world.cat("doctor --service --write --yes", { env: { CAT_BASE_URL: url } });
  const { exit, stderr } = await running;
  expect(exit).toBe(130);
  expect(stderr).toContain("Deleting the product cat-doctor-800000000000. Press Ctrl-C again to leave it.\n");
  expect(world.mock.state().organizations.main.imports.map(({ status }) => status)).not.toContain(
    "processing",
  );
  world.clock.advance(60_000);
  expect(world.products()).toEqual([]);
});

test.each([
  ["doctor --service --write", "--yes"],
  ["doctor --write", "--write needs --service"],
  ["doctor --service --parity other", "--service and --parity are two checks"],
  ["doctor --service --no-photos", "--no-photos needs --parity"],
])("%s is exit 2, and nothing is sent", async (line, text) => {
  const world = await createWorld();
  const before = world.requests().length;
  const { exit, stderr } = await world.cat(line);
  expect(exit).toBe(2);
  expect(stderr).toContain(text);
  expect(world.requests().length).toBe(before);
});
