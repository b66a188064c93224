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

test("a key of another organization is told in one line that it counts as one", async () => {
  const world = await imported();
  const ran = await world.cat("import a.csv", { env: { CAT_API_KEY: "ak_mock_other" } });
  expect(ran).toEqual({
    exit: 0,
    stdout: "",
    stderr: `This API key sees nothing of what other keys imported at ${world.mock.baseUrl}, so it counts as another organization. If it belongs to the same one, stop and add --same-organization.
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
  // The key is this organization's now, and is told what it lacks.
  expect((await world.cat("import a.csv --same-organization", { env })).exit).toBe(4);
  expect((await world.cat("import a.csv", { env })).exit).toBe(4);
});

test.each(["/v1/products", "/v1/exports"])(
  "--photos new exits with 4 for a key that cannot read %s, and --photos all is the way out",
  async (path) => {
    const world = await imported();
    await fault(world, path);
    const { exit, stdout, stderr } = await world.cat("import a.csv");
    const request_id = world.requests().at(-1)!.request_id;
    expect([exit, stdout]).toEqual([4, ""]);
    expect(stderr).toBe(`Stopped: 0 of 1 row of a.csv was submitted.
  1 row not sent: the run stopped before
error: cannot compare the rows with earlier imports: --photos new needs a key with the scopes products:read and exports:read (request ${request_id})
Use a key with both scopes, or add --photos all to send all photos, including those already attached.
`);
    expect(await world.cat("import a.csv --photos all")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Imported 1 row from a.csv in 5.0 s: 1 updated.\n",
    });
  },
);
