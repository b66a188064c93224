import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readState } from "../../../src/mock/index.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

/** Serves a copy of the world's catalogue, calls `use` with its address, and stops it. */
async function serveClone(world: TestWorld, flags: string, use: (baseUrl: string) => Promise<void>) {
  const running = world.cat(`serve --mock --clone --port 0 --json ${flags}`);
  const ended = running.then(({ stderr }) => Promise.reject(new Error(stderr)));
  await Promise.race([until(() => running.stdout.includes("\n")), ended]);
  ended.catch(() => {});
  await use(JSON.parse(running.stdout).base_url);
  running.interrupt();
  return running;
}

/** What a service lists, without signed URLs. */
async function listed(world: TestWorld, baseUrl: string, command: string): Promise<unknown[]> {
  const ran = await world.cat(`${command} --json`, { env: { CAT_BASE_URL: baseUrl } });
  expect(ran).toMatchObject({ exit: 0 });
  const withoutUrls = (key: string, value: unknown) => (/url(_expires_at)?$/.test(key) ? undefined : value);
  return ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line, withoutUrls));
}

const lists = ["products list --all", "models list --all", "export --format ndjson"];

test("--clone serves the products, images and models of the service, and only reads them", async () => {
  const world = await createWorld({ mock: { demo: 200 } });
  const { id, images } = world.products()[0]!;
  await world.cat(`products update ${id} --name Überwurf --description "Two lines"`);
  await world.cat(`beautify --product ${id} --subtype clothing --background white --angle front --yes`);
  await fetch(`${world.mock.baseUrl}/_mock/assets/${images[0]!.id}`, {
    method: "PUT",
    body: JSON.stringify({ watermarked: true, attributes: { season: "winter" } }),
  });
  await fetch(`${world.mock.baseUrl}/_mock/products/01JDASHB0ARD00000000000000`, {
    method: "PUT",
    body: "{}",
  });
  const source = await Promise.all(lists.map((list) => listed(world, world.mock.baseUrl, list)));
  expect(source.map(({ length }) => length)).toEqual([201, expect.any(Number), 200]);
  const before = world.requests().length;
  let copy: unknown;
  let reads: readonly { method: string; path: string }[] = [];
  await serveClone(world, "", async (baseUrl) => {
    reads = world.requests().slice(before);
    copy = await Promise.all(lists.map((list) => listed(world, baseUrl, list)));
  });
  expect(copy).toEqual(source);
  expect(new Set(reads.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(new Set(reads.map(({ path }) => path.split("?")[0]))).toEqual(
    new Set(["/v1/products", "/v1/exports", "/v1/models"]),
  );
  expect(reads.length).toBeLessThan(10);
});

test("draws pictures, or with --photos serves the bytes of the service, and saves them in a private file", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const { images } = world.products()[0]!;
  const bytesOf = async (baseUrl: string) => {
    const ran = await world.cat(`api GET /v1/images/${images[0]!.id}`, { env: { CAT_BASE_URL: baseUrl } });
    return Buffer.from(await (await fetch(JSON.parse(ran.stdout).url)).arrayBuffer());
  };
  const original = await bytesOf(world.mock.baseUrl);
  await serveClone(world, "", async (baseUrl) => expect(original.equals(await bytesOf(baseUrl))).toBe(false));
  // Of an earlier version, or another program.
  writeFileSync(join(world.folder, "shop.json"), "", { mode: 0o644 });
  const ran = await serveClone(world, "--photos --save shop.json", async (baseUrl) =>
    expect(original.equals(await bytesOf(baseUrl))).toBe(true),
  );
  expect(ran).toMatchObject({ exit: 130, stderr: "" });
  expect(statSync(join(world.folder, "shop.json")).mode & 0o777).toBe(0o600);
  const { main } = readState(JSON.parse(world.read("shop.json"))).organizations;
  expect(main.images.find(({ id }) => id === images[0]!.id)!.bytes).toBe(original.toString("base64"));
  expect(main.products.map(({ reference }) => reference)).toEqual(
    world.products().map(({ reference }) => reference),
  );
});

test("a key that only reads is enough, and people see what was copied", async () => {
  const world = await createWorld({ mock: { demo: 3 }, env: { CAT_API_KEY: "ak_mock_readonly" } });
  const running = world.cat("serve --mock --clone --port 0");
  await until(() => running.stderr.includes("Mock service running"));
  running.interrupt();
  const { exit, stderr } = await running;
  expect(exit).toBe(130);
  expect(stderr).toContain(
    `Copied 3 products, ${world.mock.state().organizations.main.images.length} images and 14 models from ${world.mock.baseUrl}.\n`,
  );
});

test("skips products that the mock cannot hold, and names one", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const { id, reference } = world.products()[0]!;
  // A service with a value that the mock does not know.
  const later = createServer(async (request, response) => {
    const { authorization } = request.headers as { authorization: string };
    const answer = await fetch(world.mock.baseUrl + request.url, { headers: { authorization } });
    const text = (await answer.text()).replaceAll(
      /("id":"(\w+)","name":[^{]*"sex":)[^,]*/g,
      (all, start, one) => (one === id ? `${start}"unisex"` : all),
    );
    response.writeHead(200, { "Content-Type": "application/json", "X-Request-Id": "req_1" }).end(text);
  });
  await once(later.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void later.close());
  const env = { CAT_BASE_URL: `http://127.0.0.1:${(later.address() as AddressInfo).port}` };
  const running = world.cat("serve --mock --clone --port 0", { env });
  await until(() => running.stderr.includes("Mock service running"));
  const [copied, skipped] = running.stderr.split("\n");
  running.interrupt();
  await running;
  expect(copied).toContain("Copied 2 products, ");
  expect(skipped).toMatch(
    new RegExp(
      `^warning: skipped 1 record that the mock cannot hold, for example product ${reference}: sex: `,
    ),
  );
});

test("fails with one error before it serves: a wrong key, no service", async () => {
  const world = await createWorld();
  expect(
    await world.cat("serve --mock --clone --port 0", { env: { CAT_API_KEY: "ak_wrong" } }),
  ).toMatchObject({
    exit: 4,
    stdout: "",
    stderr: expect.stringMatching(/^error: /),
  });
  expect(await world.cat("serve --mock --clone --port 0", { env: { CAT_BASE_URL: "" } })).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: no service URL\nRun: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.\n",
  });
});

test.each([
  ["--clone --load shop.json", "--clone cannot be used with --load"],
  ["--clone --demo 3", "--clone cannot be used with --demo"],
  ["--clone --seed 3", "--clone cannot be used with --seed"],
  ["--photos", "--photos needs --clone"],
])("exits with 2 for %s", async (flags, message) => {
  const world = await createWorld();
  const ran = await world.cat(`serve --mock --port 0 ${flags}`);
  expect(ran).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(`error: ${message}\n`) });
  expect(world.requests()).toEqual([]);
});
