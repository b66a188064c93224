import { request as send } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import sharp from "sharp";
import { expect, onTestFinished } from "vitest";
import { forwardProxy } from "../support/forward-proxy.ts";
import { longTest } from "../support/long-test.ts";
import { hasOpenssl, ownAuthority } from "../support/own-authority.ts";
import { spawnCat } from "../support/spawn-cat.ts";
import { createWorld, type Ran, type TestWorld } from "../support/world.ts";

const [api, files] = ["api.shop.test", "files.shop.test"];

/** The mock of a test environment behind TLS; its signed URLs are on another host. */
async function behindTls({ mock }: TestWorld) {
  const { file, key, cert } = ownAuthority([api, files]);
  const seen: { host: string; method: string; key: boolean }[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const { host = "", authorization, ...headers } = request.headers;
    seen.push({ host, method: request.method ?? "", key: authorization !== undefined });
    const onward = send(
      `${mock.baseUrl}${request.url}`,
      {
        method: request.method,
        headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
      },
      async (answer) => {
        const bytes = Buffer.concat(await answer.toArray());
        const { "content-length": _, "transfer-encoding": __, ...others } = answer.headers;
        const isJson = others["content-type"]?.includes("json");
        const body = isJson ? bytes.toString().replaceAll(mock.baseUrl, `https://${files}`) : bytes;
        response.writeHead(answer.statusCode ?? 502, others).end(body);
      },
    );
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { file, seen, port: (server.address() as AddressInfo).port };
}

longTest.skipIf(!hasOpenssl)(
  "requests, uploads and downloads go through a proxy to a service with its own authority (needs openssl)",
  async () => {
    const world = await createWorld();
    const service = await behindTls(world);
    const proxy = await forwardProxy({ route: () => service.port, credentials: "user:open sesame" });
    world.write(
      "front.jpg",
      await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
        .jpeg()
        .toBuffer(),
    );
    const env = {
      ...{ CAT_HOME: join(world.folder, ".home"), CAT_API_KEY: "ak_mock", CAT_BASE_URL: `https://${api}` },
      ...{ https_proxy: `http://user:open%20sesame@${proxy.host}`, NODE_EXTRA_CA_CERTS: service.file },
    };
    const run = (line: string) => spawnCat(line.split(" "), { env, cwd: world.folder });
    const made = await run("products create --reference A-1 --name Dress --image front.jpg --json");
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    const { id } = JSON.parse(made.stdout).images[0];
    expect(await run(`images get ${id} --save out.jpg --no-label`)).toMatchObject({ exitCode: 0 });
    expect(world.read("out.jpg")).toBe(world.read("front.jpg"));
    expect([...new Set(proxy.seen)]).toEqual([`CONNECT ${api}:443`, `CONNECT ${files}:443`]);
    expect(service.seen).toEqual([
      { host: api, method: "POST", key: true },
      { host: api, method: "POST", key: true },
      { host: api, method: "GET", key: true },
      { host: files, method: "GET", key: false },
    ]);

    // This process does not trust the authority; the mock is on this machine and needs no proxy.
    const { NODE_EXTRA_CA_CERTS: _, ...untrusted } = env;
    expect(withoutIds(await world.cat("products list", { env: untrusted }))).toEqual({
      exit: 7,
      stdout: "",
      stderr:
        `error: cannot connect securely to https://${api}, through the proxy ${proxy.url}: its certificate is not trusted, UNABLE_TO_VERIFY_LEAF_SIGNATURE (GET /v1/products, request ID)\n` +
        "If your network or service has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file.\n",
    });
    const { length } = proxy.seen;
    const local = { ...untrusted, CAT_BASE_URL: world.mock.baseUrl };
    expect((await world.cat("products list --json", { env: local })).stdout).toContain('"A-1"');
    expect((await world.cat("products list --mock", { env: local })).exit).toBe(0);
    expect(proxy.seen).toHaveLength(length);
  },
);

longTest("a proxy that needs a password fails a command with 7; a wrong variable with 2", async () => {
  const world = await createWorld();
  const proxy = await forwardProxy({ route: () => 0, credentials: "user:secret" });
  const env = { CAT_BASE_URL: `https://${api}`, HTTPS_PROXY: `http://user:wrong-password@${proxy.host}` };
  expect(await world.cat("products list --verbose", { env })).toMatchObject({
    exit: 7,
    stderr: expect.not.stringContaining("wrong-password"),
  });
  expect(withoutIds(await world.cat("products list --json", { env }))).toEqual({
    exit: 7,
    stdout: "",
    stderr: `${JSON.stringify({
      error: {
        ...{ type: "network", code: "proxy_refused" },
        message: `the proxy ${proxy.url} rejected the user name and password (GET /v1/products). Check the user name and password in HTTPS_PROXY.`,
        request_id: "ID",
        exit: 7,
      },
    })}\n`,
  });
  expect(
    await world.cat("products list", { env: { https_proxy: "socks5://user:wrong-password@host" } }),
  ).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: https_proxy is not the URL of an HTTP proxy\n" +
      "Set https_proxy to http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.\n",
  });
});

/** The output of a command without request IDs, which are random. */
const withoutIds = (ran: Ran): Ran => ({
  ...ran,
  stderr: ran.stderr.replace(/[0-9a-f]{8}(?:-[0-9a-f]+){4}/g, "ID"),
});
