import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const url = "http://127.0.0.1:4999/events";

/** A test environment with one webhook. */
async function withWebhook() {
  const world = await createWorld();
  const created = await world.cat(`webhooks create --url ${url} --events task.failed,task.succeeded --json`);
  const { id, signing_secret } = JSON.parse(created.stdout) as { id: string; signing_secret: string };
  const stored = async () =>
    JSON.parse((await world.cat(`webhooks get ${id} --json`)).stdout) as Record<string, unknown>;
  return { ...world, id, signing_secret, stored };
}

test("create prints the webhook with its secret, once", async () => {
  const world = await createWorld();
  const ran = await world.cat(`webhooks create --url ${url} --events import.completed --description CI`);
  expect({ ...ran, stdout: ran.stdout.replace(/[0-9A-Z]{26}/, "ID").replace(/whsec_\w+/, "SECRET") }).toEqual(
    {
      exit: 0,
      stdout:
        "id                ID\n" +
        `url               ${url}\n` +
        "events            import.completed\n" +
        "status            active\n" +
        "description       CI\n" +
        "last_delivery_at  -\n" +
        "created_at        2026-01-05T09:00:00.000Z\n" +
        "signing_secret    SECRET\n",
      stderr: "Store the signing_secret now: the service does not show it again.\n",
    },
  );
  const listed = await world.cat("webhooks list --json");
  expect(listed.stdout).not.toContain("whsec_");
});

test("list shows a table, and how to create the first one", async () => {
  const world = await createWorld();
  expect(await world.cat("webhooks list")).toEqual({
    exit: 0,
    stdout: "",
    stderr: "No webhooks yet. To create one: cat webhooks create --url URL --events all\n",
  });
  await world.cat(`webhooks create --url ${url} --events all`);
  const { stdout } = await world.cat("webhooks list");
  expect(stdout.replace(/[0-9A-Z]{26}/, "ID")).toBe(
    `url                           status  last_delivery_at  id\n${url}  active                    ID\n`,
  );
});

test("update changes only the given fields", async () => {
  const world = await withWebhook();
  expect((await world.cat(`webhooks update ${world.id} --status paused --description Shop`)).exit).toBe(0);
  expect(await world.stored()).toMatchObject({
    status: "paused",
    description: "Shop",
    events: ["task.failed", "task.succeeded"],
  });
  expect((await world.cat(`webhooks update ${world.id} --events import.*,task.failed`)).exit).toBe(0);
  expect((await world.stored()).events).toEqual(["import.completed", "import.failed", "task.failed"]);
  expect((await world.cat(`webhooks update ${world.id} --events all --clear description`)).exit).toBe(0);
  const { status, description, events } = await world.stored();
  expect([status, description, (events as string[]).length]).toEqual(["paused", null, 6]);
});

test("--events given several times names all of its events", async () => {
  const world = await withWebhook();
  const flags = "--events import.* --events task.failed --events import.failed";
  expect((await world.cat(`webhooks update ${world.id} ${flags}`)).exit).toBe(0);
  expect((await world.stored()).events).toEqual(["import.completed", "import.failed", "task.failed"]);
});

test("rotate prints another secret after a confirmation", async () => {
  const world = await withWebhook();
  expect(await world.cat(`webhooks rotate ${world.id}`)).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: replacing the secret of the webhook for ${url} needs a confirmation; the secret was not replaced\nAdd --yes to confirm.\n`,
  });
  const ran = await world.cat(`webhooks rotate ${world.id} --yes --json`);
  const { signing_secret } = JSON.parse(ran.stdout);
  expect(signing_secret).toMatch(/^whsec_/);
  expect(signing_secret).not.toBe(world.signing_secret);
});

test("delete names the URL in its question and needs --yes in a script", async () => {
  const world = await withWebhook();
  expect(await world.cat(`webhooks delete ${world.id}`)).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: deleting the webhook for ${url} needs a confirmation; nothing was deleted\nAdd --yes to confirm.\n`,
  });
  expect((await world.stored()).id).toBe(world.id);
  expect(await world.cat(`webhooks delete ${world.id} --yes`)).toEqual({
    exit: 0,
    stdout: "",
    stderr: `Deleted webhook ${world.id}.\n`,
  });
  expect((await world.cat(`webhooks get ${world.id}`)).exit).toBe(5);
  expect((await world.cat(`webhooks delete ${world.id} --yes`)).exit).toBe(5);
});

test.each([
  ["webhooks", "cat webhooks needs a command: list, get, create, update, delete, rotate, "],
  ["webhooks create --events all", "missing flag: --url URL"],
  ["webhooks create --url http://x", "missing flag: --events EVENTS"],
  [
    "webhooks create --url http://x --events task.failedd",
    'invalid --events "task.failedd": unknown event "task.failedd"; did you mean task.failed?',
  ],
  [
    "webhooks create --url http://x --events product.*",
    'invalid --events "product.*": unknown event "product.*"; use all, a pattern such as import.*, or task.succeeded, ',
  ],
  ["webhooks update 01KE6W9ZJ8Q3V5X7B2D4F6H8JK", "nothing to change"],
  ["webhooks update 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --status off", 'invalid --status "off": use active or paused'],
  [
    "webhooks update 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --description x --clear description",
    "--clear cannot be used with --description",
  ],
  ["webhooks get", "missing argument: ID"],
])("a wrong command line exits with 2 without a request: cat %s", async (line, message) => {
  const world = await createWorld();
  const ran = await world.cat(line);
  expect([ran.exit, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain(`error: ${message}`);
  expect(world.requests()).toEqual([]);
});

test("cat webhooks shows the service's reason for a URL that is not public", async () => {
  const world = await createWorld({ mock: { strict: true } });
  const ran = await world.cat(`webhooks create --url ${url} --events all`);
  expect([ran.exit, ran.stdout]).toEqual([3, ""]);
  expect(ran.stderr).toMatch(
    /^error: url must start with https:\/\/ \(POST \/v1\/webhooks: 400 invalid_request, request .*\)\n/,
  );
});
