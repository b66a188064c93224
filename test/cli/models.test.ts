import { expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

/** Twelve models of the service and two of the organization. */
const withModels = { mock: { demo: 1 } };

const lines = (text: string) => text.trimEnd().split("\n");

test("cat models lists models as a table, without IDs where a name would be cut", async () => {
  const world = await createWorld({ ...withModels, tty: true, columns: 40 });
  const ran = await world.cat("models list --own");
  expect(ran).toEqual({
    exit: 0,
    stderr: "The terminal is too narrow for: id. To\nsee all columns, add --format csv.\n",
    stdout: expect.stringMatching(
      /^(\u001b\[1m)?name {11}sex {5}is_public(\u001b\[22m)?\nHouse model A {2}female {2}false\nHouse model B {2}male {4}false\n$/,
    ),
  });
  const piped = await world.cat("models list --public --limit 2", { tty: false });
  expect(piped).toEqual({
    exit: 0,
    stdout:
      "name     sex     is_public  id\n" +
      "Amara    female  true       mdl_001\n" +
      "Bastian  male    true       mdl_002\n",
    stderr: "Showing the first 2. To see more, add --limit N or --all.\n",
  });
});

test("cat models prints the objects unchanged with --json", async () => {
  const world = await createWorld(withModels);
  const ran = await world.cat("models list --all --json");
  const listed = lines(ran.stdout).map((line) => JSON.parse(line));
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(listed.map((model) => [model.id.length, model.is_public])).toEqual([
    ...Array(2).fill([26, false]),
    ...Array(12).fill([7, true]),
  ]);
  expect(listed[2]).toEqual({
    id: "mdl_001",
    name: "Amara",
    is_public: true,
    sex: "female",
    body_type: "slim",
    age_bracket: "18-24",
    ethnicity: "black",
    hair_color: "black",
    eye_color: "brown",
    preview_url: expect.stringMatching(/^http:/),
    preview_url_expires_at: "2026-01-05T10:00:00.000Z",
  });
});

test("--public and --own filter on the service", async () => {
  const world = await createWorld(withModels);
  const counts = [];
  for (const flag of ["", "--public", "--own"]) {
    counts.push(lines((await world.cat(`models list --all --json ${flag}`)).stdout).length);
  }
  expect(counts).toEqual([14, 12, 2]);
  expect(world.requests().map((request) => request.path)).toEqual([
    "/v1/models?limit=100",
    "/v1/models?limit=100&is_public=true",
    "/v1/models?limit=100&is_public=false",
  ]);
});

test("cat models prints every field as CSV", async () => {
  const world = await createWorld(withModels);
  const [head, row] = lines((await world.cat("models list --public --limit 1 --format csv")).stdout);
  expect(head).toBe(
    "id,name,sex,is_public,body_type,age_bracket,ethnicity,hair_color,eye_color,preview_url,preview_url_expires_at",
  );
  expect(row).toMatch(
    /^mdl_001,Amara,female,true,slim,18-24,black,black,brown,http:[^,]+,2026-01-05T10:00:00.000Z$/,
  );
});

test("cat models prints a note for an organization without models", async () => {
  const world = await createWorld({ env: { CAT_API_KEY: "ak_mock_other" } });
  expect(await world.cat("models list --own")).toEqual({ exit: 0, stdout: "", stderr: "No models found.\n" });
  expect(await world.cat("models list --own --json")).toEqual({ exit: 0, stdout: "", stderr: "" });
});

test("--public cannot be used with --own", async () => {
  const world = await createWorld(withModels);
  for (const line of ["models list --public --own", "models list --own --public"]) {
    expect(await world.cat(line)).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --public cannot be used with --own\nRemove one of them.\n",
    });
  }
  expect(world.requests()).toEqual([]);
});

test("cat models exits with 4 for an API key that is bound to a user", async () => {
  const world = await createWorld({ ...withModels, env: { CAT_API_KEY: "ak_mock_user" } });
  expect(await world.cat("models list")).toMatchObject({ exit: 4, stdout: "" });
});

test("cat models shows one model by its ID or its name", async () => {
  const world = await createWorld(withModels);
  const byName = await world.cat("models get Amara --json");
  expect(JSON.parse(byName.stdout)).toMatchObject({ id: "mdl_001", name: "Amara", sex: "female" });
  expect((await world.cat("models get mdl_001 --json")).stdout).toBe(byName.stdout);
  expect((await world.cat("models get Amara")).stdout).toMatch(/^id +mdl_001\nname +Amara\n/);
});

test.for([
  [
    "Amarra",
    5,
    'no model has the ID or name "Amarra": did you mean Amara?',
    "To see all models: cat models list --all",
  ],
  ["Nobody", 5, 'no model has the ID or name "Nobody"', "To see all models: cat models list --all"],
  [" ", 2, "ID|NAME is empty", "See: cat models list"],
] as const)("models get %j exits with %i", async ([name, exit, message, hint]) => {
  const world = await createWorld(withModels);
  expect(await world.cat(["models", "get", name])).toEqual({
    exit,
    stdout: "",
    stderr: `error: ${message}\n${hint}\n`,
  });
});

test("models get names the IDs of models that share a name", async () => {
  const world = await createWorld(withModels);
  const state = world.mock.state();
  const { models } = state.organizations.main;
  for (const model of models) (model as { name: string }).name = "Twin";
  const put = { method: "PUT", body: JSON.stringify(state) };
  expect((await fetch(`${world.mock.baseUrl}/_mock/state`, put)).status).toBe(200);
  expect(await world.cat("models get Twin")).toEqual({
    exit: 3,
    stdout: "",
    stderr: `error: 2 models are named "Twin"\nUse an ID: ${models.map(({ id }) => id).join(" or ")}\n`,
  });
});
