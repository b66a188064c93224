import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type MockState, readState, startMock } from "../../../src/mock/index.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

/** The address and the key of a mock. */
type Place = Record<"CAT_BASE_URL" | "CAT_API_KEY", string>;

/** Serves a copy of the world's catalogue, calls `use` with its address and key, and stops it. */
async function serveClone(world: TestWorld, flags: string, use: (place: Place) => Promise<void>) {
  return serve(world, `--clone ${flags}`, use);
}

async function serve(world: TestWorld, flags: string, use: (place: Place) => Promise<void>) {
  const running = world.cat(`serve --mock --port 0 --json ${flags}`);
  const ended = running.then(({ stderr }) => Promise.reject(new Error(stderr)));
  await Promise.race([until(() => running.stdout.includes("\n")), ended]);
  ended.catch(() => {});
  const { base_url, api_key } = JSON.parse(running.stdout);
  await use({ CAT_BASE_URL: base_url, CAT_API_KEY: api_key });
  running.interrupt();
  return running;
}

/** What a service lists, without signed URLs. */
async function listed(world: TestWorld, place: Partial<Place>, command: string): Promise<unknown[]> {
  const ran = await world.cat(`${command} --json`, { env: place });
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
  const source = await Promise.all(lists.map((list) => listed(world, {}, list)));
  expect(source.map(({ length }) => length)).toEqual([201, expect.any(Number), 200]);
  const before = world.requests().length;
  let copy: unknown;
  let reads: readonly { method: string; path: string }[] = [];
  await serveClone(world, "", async (place) => {
    reads = world.requests().slice(before);
    copy = await Promise.all(lists.map((list) => listed(world, place, list)));
  });
  expect(copy).toEqual(source);
  expect(new Set(reads.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(new Set(reads.map(({ path }) => path.split("?")[0]))).toEqual(
    new Set(["/v1/products", "/v1/exports", "/v1/models"]),
  );
  expect(reads.length).toBeLessThan(10);
});

test("cat serve --clone draws pictures, or with --photos serves the bytes of the service, and saves them in a private file", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const { images } = world.products()[0]!;
  const bytesOf = async (place: Partial<Place>) => {
    const ran = await world.cat(`api GET /v1/images/${images[0]!.id}`, { env: place });
    return Buffer.from(await (await fetch(JSON.parse(ran.stdout).url)).arrayBuffer());
  };
  const original = await bytesOf({});
  await serveClone(world, "", async (place) => expect(original.equals(await bytesOf(place))).toBe(false));
  // Of an earlier version, or another program.
  writeFileSync(join(world.folder, "shop.json"), "", { mode: 0o644 });
  const ran = await serveClone(world, "--photos --save shop.json --yes", async (place) =>
    expect(original.equals(await bytesOf(place))).toBe(true),
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

test("cat serve --clone skips products that the mock cannot hold, and names one", async () => {
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

test("cat serve --clone fails with one error before it serves: a wrong key, no service", async () => {
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

/** The status of a list of products with a key. */
const statusWith = async (baseUrl: string, key: string) =>
  (await fetch(`${baseUrl}/v1/products`, { headers: { authorization: `Bearer ${key}` } })).status;
const publicKeys = ["ak_mock", "ak_mock_readonly", "ak_mock_user", "ak_mock_revoked", "ak_mock_other"];

test("a copy has random keys alone, which its saved file keeps", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const keys: string[] = [];
  const check = async ({ CAT_BASE_URL: url, CAT_API_KEY: key }: Place) => {
    keys.push(key);
    expect(key).toMatch(/^ak_[0-9a-f]{32}$/);
    expect(await statusWith(url, key)).toBe(200);
    for (const one of publicKeys) expect([one, await statusWith(url, one)]).toEqual([one, 401]);
    const all = (await (await fetch(`${url}/_mock/keys`)).json()) as NonNullable<MockState["keys"]>;
    expect(all.map(({ organization, scopes }) => [organization, scopes === null])).toEqual([
      ["main", true],
      ["main", false],
      [null, true],
      ["other", true],
    ]);
    const statuses = await Promise.all(all.map((one) => statusWith(url, one.key)));
    expect([new Set(all.map((one) => one.key)).size, statuses]).toEqual([4, [200, 200, 403, 200]]);
    expect((await fetch(`${url}/_mock/reset`, { method: "POST" })).status).toBe(200);
    expect([await statusWith(url, key), await statusWith(url, "ak_mock")]).toEqual([200, 401]);
    // A state that goes to and fro has the same keys.
    const state = await (await fetch(`${url}/_mock/state`)).text();
    expect((await fetch(`${url}/_mock/state`, { method: "PUT", body: state })).status).toBe(200);
    expect([await statusWith(url, key), await statusWith(url, "ak_mock")]).toEqual([200, 401]);
  };
  await serveClone(world, "--save shop.json", check);
  expect(statSync(join(world.folder, "shop.json")).mode & 0o777).toBe(0o600);
  await serve(world, "--load shop.json --seed 7 --save again.json", check);
  await serve(world, "--load again.json", check);
  await serveClone(world, "", check);
  expect([keys[1], keys[2]]).toEqual([keys[0], keys[0]]);
  expect(keys[3]).not.toBe(keys[0]);
  await using mock = await startMock({ state: JSON.parse(world.read("shop.json")) });
  expect(mock.apiKey).toBe(keys[0]);
});

test("people see the keys of a copy, and a command gets the first one", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const running = world.cat("serve --mock --clone --port 0 --save shop.json");
  await until(() => running.stderr.includes("of another organization"));
  running.interrupt();
  const { stderr } = await running;
  const { keys } = readState(JSON.parse(world.read("shop.json")));
  const [all, reads, user, other] = keys!.map(({ key }) => key);
  expect(stderr).toContain(` with API key ${all}. To stop it, press Ctrl-C.\n`);
  expect(stderr).toMatch(new RegExp(`\n  export CAT_BASE_URL=\\S+ CAT_API_KEY=${all}\n`));
  expect(stderr).toContain(
    `\n\n  # random keys, because the data is real\n  ${all} every scope\n  ${reads} reads only\n  ${user} of a user\n  ${other} of another organization\n`,
  );
  const file = join(world.folder, "given");
  const script = `require("fs").writeFileSync(${JSON.stringify(file)}, process.env.CAT_API_KEY)`;
  const ran = await world.cat([
    "serve",
    "--mock",
    "--load",
    "shop.json",
    "--",
    process.execPath,
    "-e",
    script,
  ]);
  expect([ran.exit, world.read("given")]).toEqual([0, all]);
});

test("a mock with real data takes no key that can be guessed, from a file, a request or a test", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  await serveClone(world, "--save shop.json", async ({ CAT_BASE_URL: url }) => {
    const put = async (key: string) =>
      (await fetch(`${url}/_mock/keys/${key}`, { method: "PUT", body: "{}" })).status;
    for (const key of [...publicKeys, "ak_ci", "ak_123456789012345"]) {
      expect([key, await put(key)]).toEqual([key, 400]);
      expect(await statusWith(url, key)).toBe(401);
    }
    expect(await put("ak_1234567890123456")).toBe(200);
    expect(await statusWith(url, "ak_1234567890123456")).toBe(200);
  });
  const state = JSON.parse(world.read("shop.json"));
  for (const [keys, problem] of [
    [undefined, "keys: must have a key"],
    [[], "keys: must have a key"],
    [[...state.keys, { ...state.keys[0], key: "ak_mock" }], "keys[5].key: must have at least 16 characters"],
  ] as const) {
    expect(() => readState({ ...state, keys })).toThrow(problem);
    world.write("bad.json", JSON.stringify({ ...state, keys }));
    expect(await world.cat("serve --mock --port 0 --load bad.json")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(problem),
    });
  }
});

test.each([
  ["--clone --load shop.json", "--clone cannot be used with --load"],
  ["--clone --demo 3", "--clone cannot be used with --demo"],
  ["--clone --seed 3", "--clone cannot be used with --seed"],
  ["--photos", "--photos needs --clone"],
])("cat serve --clone exits with 2 for %s", async (flags, message) => {
  const world = await createWorld();
  const ran = await world.cat(`serve --mock --port 0 ${flags}`);
  expect(ran).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(`error: ${message}\n`) });
  expect(world.requests()).toEqual([]);
});
