import { expect, test } from "vitest";
import { verifyWebhook } from "../../../src/index.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";
import { startHandler } from "./listen-world.ts";

const secret = "whsec_0123456789abcdef";
const url = "http://127.0.0.1:3000/";
const now = Date.parse("2026-01-05T09:00:00Z");

const eventLine = (id: string, minutesAgo: number, handlers?: string[]) => ({
  id,
  type: "task.failed",
  created_at: "2026-01-05T07:00:00Z",
  data: { task: { id: "01KE6W9ZJ8Q3V5X7B2D4F6H8JK", status: "failed" } },
  received_at: new Date(now - minutesAgo * 60_000).toISOString(),
  header: "t=1,v1=old",
  body: `{"id": "${id}",  "type":"task.failed"}`,
  ...(handlers && { handlers }),
});
const result = (id: string, status: number | null, of = url) => ({ result_of: id, url: of, status, at: "x" });

/** A log with four events: without handlers, accepted, failed, and failed then accepted. */
const lines = [
  eventLine("evt_plain", 200),
  eventLine("evt_good", 150, [url]),
  result("evt_good", 204),
  eventLine("evt_bad", 100, [url, "http://127.0.0.1:3001/"]),
  result("evt_bad", 200),
  result("evt_bad", 500, "http://127.0.0.1:3001/"),
  eventLine("evt_late", 10, [url]),
  result("evt_late", null),
  result("evt_late", 200),
  eventLine("evt_unanswered", 5, [url]),
];

async function replayWorld() {
  const world = await createWorld({ env: { CAT_WEBHOOK_SECRET: secret, CAT_API_KEY: undefined } });
  world.write("log.ndjson", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const handler = await startHandler(() => [200]);
  const replay = (words: string) =>
    world.cat(`webhooks replay ${words} --to ${handler.url} --log log.ndjson`);
  return { ...world, handler, replay };
}

test.each([
  ["evt_good evt_plain", ["evt_plain", "evt_good"]],
  ["--since 2h", ["evt_bad", "evt_late", "evt_unanswered"]],
  ["--failed", ["evt_bad", "evt_unanswered"]],
  ["--failed --since 30m", ["evt_unanswered"]],
  ["evt_good evt_bad --failed", ["evt_bad"]],
])(
  "cat webhooks replay sends the chosen events, oldest first, with a fresh signature: %s",
  async (words, expected) => {
    const world = await replayWorld();
    const ran = await world.replay(`${words} --json`);
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    const received = world.handler.received.map(({ headers, body }) =>
      verifyWebhook({
        header: headers["service-signature"] as string,
        rawBody: body,
        secret,
        now,
        toleranceSeconds: 0,
      }),
    );
    expect(received.map(({ id }) => id)).toEqual(expected);
    expect(world.handler.received[0]!.body).toBe(`{"id": "${expected[0]}",  "type":"task.failed"}`);
    const printed = ran.stdout.trimEnd().split("\n");
    expect(printed.map((line) => JSON.parse(line).id)).toEqual(expected);
    expect(world.read("log.ndjson").trimEnd().split("\n")).toHaveLength(lines.length);
  },
);

test("cat webhooks replay exits with 5 for an ID that the log does not have, and sends nothing", async () => {
  const world = await replayWorld();
  const ran = await world.replay("evt_good evt_none");
  expect([ran.exit, ran.stdout]).toEqual([5, ""]);
  expect(ran.stderr).toMatch(/^error: the log does not have evt_none\nCheck the ID in \S+log\.ndjson\.\n$/);
  expect(world.handler.received).toEqual([]);
});

test("a log that does not exist has no events", async () => {
  const world = await replayWorld();
  expect(await world.cat(`webhooks replay --failed --to ${world.handler.url}`)).toEqual({
    exit: 0,
    stdout: "",
    stderr: "No failed events found in the log.\n",
  });
  expect((await world.cat(`webhooks replay evt_a --to ${world.handler.url}`)).exit).toBe(5);
});

test.each([
  [
    "evt_late --since 2h --to http://127.0.0.1:1/",
    2,
    "error: --since cannot be used with event IDs\nRemove --since, or the IDs.\n",
  ],
  ["--to http://127.0.0.1:1/", 2, "error: no events chosen\nAdd event IDs, --since TIME or --failed.\n"],
  ["evt_good", 2, "error: missing flag: --to URL\nSee: cat webhooks replay --help\n"],
  [
    "--since yesterday --to http://127.0.0.1:1/",
    2,
    'error: invalid --since "yesterday": use a duration such as 90s, 30m or 2h\nSee: cat webhooks replay --help\n',
  ],
])("a wrong command line is rejected: cat webhooks replay %s", async (words, exit, stderr) => {
  const world = await replayWorld();
  expect(await world.cat(`webhooks replay ${words} --log log.ndjson`)).toEqual({ exit, stdout: "", stderr });
});

test("cat webhooks replay exits with 8 for a handler that does not respond within 10 s", async () => {
  const world = await replayWorld();
  const slow = await startHandler(() => "never");
  const running = world.cat(`webhooks replay evt_bad --to ${slow.url} --log log.ndjson --json`);
  await until(() => slow.received.length === 1);
  world.clock.advance(10_000);
  const { exit, stdout } = await running;
  expect([exit, JSON.parse(stdout)]).toMatchObject([
    8,
    { status: null, failure: "timeout", response: "no response within 10 s" },
  ]);
});

test("cat webhooks replay exits with 4 without a secret and with 7 without a handler", async () => {
  const world = await replayWorld();
  const without = await world.cat(`webhooks replay --failed --to ${world.handler.url} --log log.ndjson`, {
    env: { CAT_WEBHOOK_SECRET: undefined },
  });
  expect(without.exit).toBe(4);
  const ran = await world.cat("webhooks replay --failed --to http://127.0.0.1:1/ --log log.ndjson");
  expect([ran.exit, ran.stderr]).toEqual([
    7,
    "The handler cannot be reached. Check that it runs, and its URL.\n",
  ]);
});
