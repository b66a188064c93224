import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const csv = "reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\n";

async function imported() {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  world.write("a.csv", csv);
  expect((await world.cat("import a.csv")).exit).toBe(0);
  return world;
}

type World = Awaited<ReturnType<typeof imported>>;

const fault = async (world: World, path: string) => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ match: { method: "GET", path }, status: 403 });
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", headers, body });
};

test("a key of another organization is treated as new, with one note", async () => {
  const world = await imported();
  const ran = await world.cat("import a.csv", { env: { CAT_API_KEY: "ak_mock_other" } });
  expect(ran).toEqual({
    exit: 0,
    stdout: "",
    stderr: `This API key cannot see what other keys imported to ${world.mock.baseUrl}, so it is treated as another organization's key. If it belongs to the same one, press Ctrl-C and add --same-organization.
Imported 1 row from a.csv in 5.0 s: 1 created.
`,
  });
});

test("a new key that cannot read products exits with 6 until --same-organization decides", async () => {
  const world = await imported();
  await fault(world, "/v1/products");
  const env = { CAT_API_KEY: "ak_mock_readonly" };
  const before = world.requests().length;
  expect(await world.cat("import a.csv", { env })).toEqual({
    exit: 6,
    stdout: "",
    stderr: `error: earlier imports to ${world.mock.baseUrl} used another API key; cannot determine whether both keys belong to one organization
If they do, add --same-organization. If not, use a separate profile (--profile NAME) or ledger (--ledger FILE).
`,
  });
  expect(world.requests()).toHaveLength(before + 1);
  // The key belongs to this organization now, so the error names the missing scopes.
  expect((await world.cat("import a.csv --same-organization", { env })).exit).toBe(4);
  expect((await world.cat("import a.csv", { env })).exit).toBe(4);
});

test("--photos new exits with 4 for a key that cannot read products, and --photos all works", async () => {
  const world = await imported();
  await fault(world, "/v1/products");
  const { exit, stdout, stderr } = await world.cat("import a.csv");
  const request_id = world.requests().at(-1)!.request_id;
  expect([exit, stdout]).toEqual([4, ""]);
  expect(stderr).toBe(`Stopped: sent 0 of 1 row of a.csv.
  1 row not sent
error: cannot compare the rows with their products: --photos new needs a key with the scope products:read (request ${request_id})
Use a key with it, or add --photos all to send all photos, including those already attached.
`);
  expect(await world.cat("import a.csv --photos all")).toEqual({
    exit: 0,
    stdout: "",
    stderr:
      "This API key cannot read products (scope products:read), so the changes of this import to existing products cannot be undone.\nImported 1 row from a.csv in 5.0 s: 1 updated.\n",
  });
});

test("commands without --same-organization do not name it", async () => {
  const world = await imported();
  const note = `This API key cannot see what other keys imported to ${world.mock.baseUrl}, so it is treated as another organization's key.`;
  const other = await world.cat("export --manifest", { env: { CAT_API_KEY: "ak_mock_other" } });
  expect([other.exit, other.stderr.split("\n")[0]]).toEqual([0, note]);
  await fault(world, "/v1/products");
  for (const command of [
    "export --zip",
    "tryon --product A --model m --background white --angle full-front --yes",
  ])
    expect(await world.cat(command, { env: { CAT_API_KEY: "ak_mock_readonly" } })).toEqual({
      exit: 6,
      stdout: "",
      stderr: `error: earlier imports to ${world.mock.baseUrl} used another API key; cannot determine whether both keys belong to one organization
Use a separate profile for this key (--profile NAME), or a key with the scopes products:read and imports:read.
`,
    });
});
