import { expect, onTestFinished, test } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../support/world.ts";

/** A service with a demo catalogue, and another one in the profile `restored`. */
async function createPair(other: WorldOptions["mock"] = {}) {
  const world = await createWorld({ mock: { demo: 12 } });
  const mock = await startMock({ seed: 1, ...other, demo: 12, clock: world.clock });
  onTestFinished(() => mock.stop());
  const login = await world.cat(`login --profile restored --base-url ${mock.baseUrl} --with-key`, {
    stdin: mock.apiKey,
    env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined },
  });
  expect(login).toMatchObject({ exit: 0 });
  return { world, mock, inRestored: { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey } };
}

const photoCount = (world: TestWorld): number => world.products().flatMap(({ images }) => images).length;

test("the comparison of two profiles finds no difference between equal catalogues, and downloads every photo of both", async () => {
  const { world, mock } = await createPair();
  const before = mock.requests().length;
  const photos = photoCount(world);
  expect(await world.cat("doctor --parity restored")).toEqual({
    exit: 0,
    stdout: "",
    stderr: `No differences: 12 products here, 12 in restored, ${2 * photos} photos downloaded.\n`,
  });
  const methods = [...world.requests(), ...mock.requests().slice(before)].map(({ method }) => method);
  expect(new Set(methods)).toEqual(new Set(["GET"]));
});

test("the comparison of two profiles names each product that differs, and how, and exits with 8", async () => {
  const { world, inRestored: env } = await createPair();
  const [a, b, c, d, e, f] = world.products();
  const references = [a, b, c, d, e, f].map((product) => product!.reference);
  await world.cat(["products", "update", a!.id, "--name", "Other name"], { env });
  await world.cat(["products", "update", b!.id, "--description", "Other text"], { env });
  await world.cat(["products", "update", c!.id, "--sex", c!.sex === "kid" ? "other" : "kid"], { env });
  await world.cat(["products", "delete", d!.id, "--yes"], { env });
  await world.cat(["products", "update", e!.id, "--reference", "NEW-1"], { env });
  await world.cat(["products", "attach", f!.id, `${a!.images[0]!.id}:detail`], { env });
  const ran = await world.cat("doctor --parity restored --no-photos");
  const labels = f!.images.map(({ orientation }) => orientation).sort();
  expect(ran.exit).toBe(8);
  expect(ran.stdout.trimEnd().split("\n").sort()).toEqual(
    [
      `${references[0]}: another name`,
      `${references[1]}: another description`,
      `${references[2]}: sex ${c!.sex ?? "none"}; in restored: ${c!.sex === "kid" ? "other" : "kid"}`,
      `${references[3]}: missing in restored`,
      `${references[4]}: missing in restored`,
      `${references[5]}: orientations ${labels.join(", ")}; in restored: ${[...labels, "detail"].sort().join(", ")}`,
      "NEW-1: only in restored",
    ].sort(),
  );
  expect(ran.stderr).toBe("7 differences: 12 products here, 11 in restored, bytes of photos not compared.\n");
  const json = await world.cat("doctor --parity restored --no-photos --json");
  expect(JSON.parse(json.stdout).differences).toHaveLength(7);
  expect(JSON.parse(json.stderr).error).toMatchObject({ message: "7 differences to restored", exit: 8 });
});

test("the comparison of two profiles compares the bytes of photos, whatever their IDs are", async () => {
  const { world, mock, inRestored: env } = await createPair();
  const [one, two] = world.products();
  const state = mock.state();
  const front = two!.images[0]!;
  const image = state.organizations.main.images.find(({ id }) => id === front.id)!;
  await fetch(`${mock.baseUrl}/_mock/state`, {
    method: "PUT",
    body: JSON.stringify({
      ...state,
      organizations: {
        ...state.organizations,
        main: {
          ...state.organizations.main,
          images: state.organizations.main.images.map((each) =>
            each.id === front.id ? { ...image, seed: "another picture" } : each,
          ),
        },
      },
    }),
  });
  const ran = await world.cat("doctor --parity restored --json");
  const photos = photoCount(world);
  expect(JSON.parse(ran.stdout)).toEqual({
    parity: "restored",
    here: 12,
    there: 12,
    without_reference: 0,
    photos: 2 * photos,
    differences: [{ reference: two!.reference, what: "photo", orientation: front.orientation }],
  });
  expect(ran.exit).toBe(8);
  // The same bytes under another ID are equal.
  const photo = Buffer.from(await (await fetch(await urlOf(world, one!.images[0]!.id))).arrayBuffer());
  world.write("photo", photo);
  await world.cat("images upload photo", { env });
  for (const at of [undefined, env])
    await world.cat(["products", "attach", one!.id, "photo:detail"], { ...(at && { env: at }) });
  const added = (await world.cat("doctor --parity restored --json")).stdout;
  expect(JSON.parse(added)).toEqual({ ...JSON.parse(ran.stdout), photos: 2 * photos + 2 });
});

const urlOf = async (world: TestWorld, id: string): Promise<string> =>
  JSON.parse((await world.cat(`images get ${id} --json`)).stdout).url;

test("two profiles of one organization need no downloads", async () => {
  const world = await createWorld({ mock: { demo: 12 } });
  await world.cat(`login --profile same --base-url ${world.mock.baseUrl} --with-key`, {
    stdin: "ak_mock_readonly",
  });
  expect(await world.cat("doctor --parity same")).toEqual({
    exit: 0,
    stdout: "",
    stderr: "No differences: 12 products here, 12 in same, 0 photos downloaded.\n",
  });
});

test("the comparison of two profiles counts products of the dashboard, which have no reference", async () => {
  const { world } = await createPair();
  await fetch(`${world.mock.baseUrl}/_mock/products/01JDASHB0ARD00000000000000`, {
    method: "PUT",
    body: "{}",
  });
  const ran = await world.cat("doctor --parity restored --no-photos");
  expect(ran).toEqual({
    exit: 0,
    stdout: "",
    stderr:
      "No differences: 12 products here, 12 in restored, bytes of photos not compared. 1 product without a reference not compared.\n",
  });
});

test("the comparison of two profiles exits with 2 for an unknown profile, and for --no-photos alone", async () => {
  const world = await createWorld();
  expect(await world.cat("doctor --parity nowhere")).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      'error: unknown profile "nowhere" (from --parity)\nCheck the name. To list the profiles: cat config list\n',
  });
  expect(await world.cat("doctor --no-photos")).toEqual({
    exit: 2,
    stdout: "",
    stderr: "error: --no-photos needs --parity\nAdd --parity PROFILE.\n",
  });
  expect(world.requests()).toEqual([]);
});

test.each([
  ["here", "the key in use", "Use a key with this scope."],
  ["there", "the key of the profile restored", "Store another key: cat login --profile restored"],
])("the comparison of two profiles names the key that is rejected %s", async (side, key, hint) => {
  const { world, mock } = await createPair();
  const [{ faults }, status, code] =
    side === "here" ? [world.mock, 403, "insufficient_scope"] : [mock, 401, "invalid_api_key"];
  faults.add({ match: { method: "GET" }, status });
  const { exit, stderr } = await world.cat("doctor --parity restored");
  const message = "this response comes from a fault set with POST /_mock/faults";
  expect([exit, stderr.replace(/request \S+\)/, "request R)")]).toEqual([
    4,
    `error: ${key} was rejected: ${message} (GET /v1/products: ${status} ${code}, request R)\n${hint}\n`,
  ]);
});
