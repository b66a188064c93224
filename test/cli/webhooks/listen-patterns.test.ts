import { expect, test } from "vitest";
import { responseLine } from "../../../src/cli/commands/listen/event-words.ts";
import { createWorld } from "../../support/world.ts";
import { eventText, jsonLines, listenWorld } from "./listen-world.ts";

test.each([
  [
    "--route imprt.completed=http://127.0.0.1:1/",
    '--route "imprt.completed=http://127.0.0.1:1/": unknown event "imprt.completed"; did you mean import.completed?',
  ],
  [
    "--route import.*,invoice.*=http://127.0.0.1:1/",
    '--route "import.*,invoice.*=http://127.0.0.1:1/": unknown event "invoice.*"; use *, a pattern such as import.*, or task.succeeded, task.failed, import.completed, import.failed, export.completed, export.failed',
  ],
  [
    "--poll --wait task.suceeded",
    '--wait "task.suceeded": unknown event "task.suceeded"; did you mean task.succeeded?',
  ],
  [
    "--events all",
    '--events "all": unknown event "all"; use *, a pattern such as import.*, or task.succeeded, task.failed, import.completed, import.failed, export.completed, export.failed',
  ],
])(
  "an event that does not exist exits with 2 and the nearest one, and nothing is created: %s",
  async (flags, problem) => {
    const world = await createWorld();
    expect(await world.cat(`webhooks listen --port 0 ${flags}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: invalid ${problem}\nSee: cat webhooks listen --help\n`,
    });
    expect(world.requests()).toEqual([]);
  },
);

test("a warning about a secret without whsec_ comes before the first line, and the listener lives on", async () => {
  const world = await listenWorld({ env: { CAT_BASE_URL: "https://a.example.com" } });
  const started = await world.listen("--route *,imp*=http://127.0.0.1:1/ --events import.*", {
    env: { CAT_WEBHOOK_SECRET: "of_test" },
  });
  expect(
    await world.send(started.first.listening, eventText("evt_1", "task.new"), { secret: "of_test" }),
  ).toEqual([200, "ok"]);
  await started.stop();
  expect(jsonLines(started.running.stderr).map(({ warning }) => warning?.message)).toEqual([
    "CAT_WEBHOOK_SECRET does not start with whsec_: use the complete signing_secret of the webhook",
  ]);
});

test("a wait for an event that --events excludes exits with 2", async () => {
  const world = await createWorld();
  expect(await world.cat("webhooks listen --port 0 --events task.* --wait import.completed")).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: --wait import.completed never ends with --events task.*\nAdd the event to --events, or remove --events.\n",
  });
  // Then --details, which is checked later, is the mistake.
  for (const fits of [
    "import.* --wait import.completed",
    "import.* --events task.* --wait import.failed",
    "import.completed --wait imp*",
  ]) {
    const ran = await world.cat(`webhooks listen --port 0 --details --json --events ${fits}`);
    expect([ran.exit, JSON.parse(ran.stderr).error.param]).toEqual([2, "--details"]);
  }
});

test("a route whose events --events excludes exits with 2", async () => {
  const world = await createWorld();
  const routes = "--route import.*=http://127.0.0.1:1/ --route task.*=http://127.0.0.1:2/";
  expect(await world.cat(`webhooks listen --port 0 --events import.completed ${routes}`)).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: --route task.*=URL never gets an event with --events import.completed\nAdd the event to --events, or remove --events.\n",
  });
  expect(world.requests()).toEqual([]);
});

test("a handler's response names its event", () => {
  const plain = (text: string) => text;
  const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
  expect(
    responseLine({ id: "evt_1", type: "task.failed" }, { url: "http://h/", status: 200 }, paint, plain),
  ).toBe("          → task.failed evt_1  http://h/  200");
});

test("replay exits with 2 for a log that --log names and that cannot be read", async () => {
  const world = await createWorld({ env: { CAT_WEBHOOK_SECRET: "whsec_of_test" } });
  const ran = await world.cat("webhooks replay --since 2h --to http://127.0.0.1:1/ --log none.ndjson");
  expect([ran.exit, ran.stderr]).toEqual([
    2,
    `error: cannot open ${world.folder}/none.ndjson: no such file or folder\nChoose another file.\n`,
  ]);
});
