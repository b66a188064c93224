import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { eventText, jsonLines, listenWorld, startHandler } from "./listen-world.ts";

/** A profile whose service is elsewhere: the listener takes the secret from the environment. */
const elsewhere = { CAT_BASE_URL: "https://service.example.com", CAT_WEBHOOK_SECRET: "whsec_of_test" };

describe("a listener with a service on this machine", () => {
  test("creates a webhook, prints each event once, and deletes the webhook at Ctrl-C", async () => {
    const world = await listenWorld();
    const listener = await world.listen();
    const webhooks = () => world.mock.state().organizations.main.webhooks;
    expect(webhooks().map(({ id, url, events, status }) => ({ id, url, events, status }))).toEqual([
      {
        id: listener.first.webhook_id,
        url: listener.first.listening,
        events: [
          "task.succeeded",
          "task.failed",
          "import.completed",
          "import.failed",
          "export.completed",
          "export.failed",
        ],
        status: "active",
      },
    ]);
    expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
    await until(() => listener.events().length > 0);
    // The mock records an attempt after its response, and the listener prints before it responds.
    await world.mock.settled();
    const [sent] = world.mock.deliveries();
    expect(listener.events()).toEqual([{ ...sent!.event, received_at: "2026-01-05T09:00:05.000Z" }]);
    expect(world.logLines()).toEqual([
      {
        ...sent!.event,
        received_at: "2026-01-05T09:00:05.000Z",
        header: sent!.attempts[0]!.signature,
        body: JSON.stringify(sent!.event),
      },
    ]);
    expect(await listener.stop()).toMatchObject({ exit: 0, stderr: "" });
    expect(webhooks()).toEqual([]);
  });

  longTest("subscribes to the events of --events", async () => {
    const world = await listenWorld();
    const listener = await world.listen("--events import.*,task.failed");
    const [webhook] = world.mock.state().organizations.main.webhooks;
    expect(webhook!.events).toEqual(["task.failed", "import.completed", "import.failed"]);
    await listener.stop();
  });
});

describe("the responses of a listener", () => {
  test.for(
    sampled(
      [
        ["a signed event", eventText("evt_1"), {}, [200, "ok"]],
        ["an unknown type", eventText("evt_1", "model.renamed"), {}, [200, "ok"]],
        [
          "another secret",
          eventText("evt_1"),
          { secret: "whsec_other" },
          [400, "the signature was made with another secret, or over another body"],
        ],
        [
          "a header that is not a signature",
          eventText("evt_1"),
          { header: "x" },
          [400, "the header Service-Signature is not of the form t=SECONDS,v1=HEX"],
        ],
        ["text", "no json", {}, [400, "the delivery is signed, but its body is not JSON"]],
        ["a list", "[]", {}, [400, "the delivery is signed, but its body is not a JSON object"]],
        ["null", "null", {}, [400, "the delivery is signed, but its body is not a JSON object"]],
        ["no ID", "{}", {}, [400, "the delivery is signed, but it has no valid ID"]],
        ["no type", '{"id":"evt_1"}', {}, [400, "the delivery is signed, but it has no type"]],
        [
          "deep JSON",
          `{"id":"evt_1","type":"a","data":${"[".repeat(400_000)}${"]".repeat(400_000)}}`,
          {},
          [400, "the delivery is signed, but its body is JSON nested deeper than 100 levels"],
        ],
        [
          "bytes that are not UTF-8",
          Buffer.from([0x7b, 0xff, 0x7d]),
          {},
          [400, "the delivery is signed, but its body is not JSON"],
        ],
        [
          "1 MB of signed JSON",
          `{"id":"evt_1","type":"a","data":"${"x".repeat(1_000_000)}"}`,
          {},
          [200, "ok"],
        ],
        ["a longer body", "x".repeat(1_048_577), {}, [413, "the body is longer than 1 MB"]],
      ] as const,
      7,
    ),
  )("%s", async ([, body, how, answer]) => {
    const world = await listenWorld({ env: elsewhere });
    const listener = await world.listen();
    expect(await world.send(listener.first.listening, body as string, how)).toEqual(answer);
    const isAccepted = answer[0] === 200;
    expect(listener.events()).toHaveLength(isAccepted ? 1 : 0);
    // It lives on.
    expect(await world.send(listener.first.listening, eventText("evt_2"))).toEqual([200, "ok"]);
    const { exit, stderr } = await listener.stop();
    expect(exit).toBe(0);
    expect(jsonLines(stderr).map(({ warning }) => warning.message.replace(/ \(POST .*/, ""))).toEqual(
      isAccepted ? [] : [answer[1]],
    );
  });

  test("prints an event once, however often and whenever it is delivered", async () => {
    const world = await listenWorld({ env: elsewhere });
    const first = await world.listen();
    for (let times = 0; times < 3; times++) {
      expect(await world.send(first.first.listening, eventText("evt_1"))).toEqual([200, "ok"]);
    }
    expect(first.events()).toHaveLength(1);
    await first.stop();
    const second = await world.listen();
    expect(await world.send(second.first.listening, eventText("evt_1"))).toEqual([200, "ok"]);
    expect(await world.send(second.first.listening, eventText("evt_2"))).toEqual([200, "ok"]);
    expect(second.events().map(({ id }) => id)).toEqual(["evt_2"]);
    await second.stop();
    expect(world.logLines().map(({ id }) => id)).toEqual(["evt_1", "evt_2"]);
  });
});

longTest(
  "a listener with handlers reports events that no response of a handler settles, and forwards none",
  async () => {
    const world = await listenWorld({ env: elsewhere });
    const handler = await startHandler(() => [200]);
    const before = (ms: number) => new Date(world.clock.now() - ms).toISOString();
    const line = (id: string) => ({
      ...JSON.parse(eventText(id)),
      ...{ header: null, body: eventText(id), received_at: before(86_400_000) },
    });
    const logged = [
      { ...line("evt_done"), handlers: [handler.url] },
      { result_of: "evt_done", url: handler.url, status: 200, at: "2026-01-05T09:00:00Z" },
      { ...line("evt_failed"), handlers: [handler.url] },
      { result_of: "evt_failed", url: handler.url, status: 500, at: "2026-01-05T09:00:00Z" },
      // As after a kill before the response.
      { ...line("evt_killed"), handlers: [handler.url] },
      line("evt_without"),
      { ...line("evt_old"), handlers: [handler.url], received_at: before(86_400_001) },
    ];
    world.write("l.ndjson", logged.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const first = await world.listen(`--log l.ndjson --forward-to ${handler.url}`);
    const log = join(world.folder, "l.ndjson");
    const replay = `webhooks replay --failed --since 24h --to ${handler.url} --log ${log}`;
    expect(jsonLines((await first.stop()).stderr)).toEqual([
      {
        warning: {
          message: `a handler did not accept 2 events of the last 24 h in ${log}`,
          hint: `To send them again: cat ${replay}`,
        },
      },
    ]);
    expect(handler.received).toEqual([]);
    const without = await world.listen("--log l.ndjson");
    expect(await without.stop()).toMatchObject({ exit: 0, stderr: "" });
    expect(await world.cat(replay)).toMatchObject({ exit: 0 });
    expect(handler.received.map(({ body }) => JSON.parse(body).id)).toEqual(["evt_failed", "evt_killed"]);
  },
);

describe("the end of a listener", () => {
  test("with --wait EVENT follows that event, and with --count N that many: exit 0", async () => {
    const world = await listenWorld({ env: elsewhere });
    const one = await world.listen("--wait task.failed");
    expect(await world.send(one.first.listening, eventText("evt_1"))).toEqual([200, "ok"]);
    expect(await world.send(one.first.listening, eventText("evt_2", "task.failed"))).toEqual([200, "ok"]);
    expect(await one.running).toMatchObject({ exit: 0, stderr: "" });
    expect(one.events().map(({ id }) => id)).toEqual(["evt_1", "evt_2"]);
    const two = await world.listen("--count 2");
    for (const id of ["evt_3", "evt_3", "evt_4"]) await world.send(two.first.listening, eventText(id));
    expect(await two.running).toMatchObject({ exit: 0 });
  });

  longTest("--timeout exits with 7 and deletes the webhook", async () => {
    const world = await listenWorld();
    const listener = await world.listen("--wait import.failed --timeout 30s");
    world.clock.advance(30_000);
    const { exit, stderr } = await listener.running;
    expect([exit, jsonLines(stderr)[0].error.message]).toEqual([
      7,
      "listening timed out after 30 s: 0 events of 1 came. Use a longer --timeout, or check that the events are sent.",
    ]);
    expect(world.mock.state().organizations.main.webhooks).toEqual([]);
  });

  test.for([
    ["", "SIGINT", 0],
    ["", "SIGTERM", 143],
    ["--wait import.completed", "SIGINT", 130],
  ] as const)("listen %s exits after %s with %d", async ([flags, signal, exit]) => {
    const world = await listenWorld();
    const listener = await world.listen(flags);
    listener.running.interrupt(signal);
    expect(await listener.running).toMatchObject({ exit });
    expect(world.mock.state().organizations.main.webhooks).toEqual([]);
  });

  longTest("a closed output pipe ends it with 0, and the event is in the log", async () => {
    const world = await listenWorld({ env: elsewhere });
    const listener = await world.listen("", { stdoutReads: 1 });
    expect(await world.send(listener.first.listening, eventText("evt_1"))).toEqual([200, "ok"]);
    expect(await listener.running).toMatchObject({ exit: 0, stderr: "" });
    expect(world.logLines()).toHaveLength(1);
  });
});

describe("forwarding", () => {
  test("sends the raw body and headers on, and only failed handlers get a retry", async () => {
    const world = await listenWorld({ env: elsewhere });
    const good = await startHandler(() => [204]);
    const bad = await startHandler((_, count) => (count < 3 ? [500, "Oops\nmore"] : [200, "fine"]));
    const imports = await startHandler(() => [200]);
    const listener = await world.listen(
      `--forward-to ${good.url} --forward-to ${bad.url} --route task.*=${imports.url}`,
    );
    const body = `{ "id":"evt_1",\n"type": "import.completed", "data": null }`;
    const send = () => world.send(listener.first.listening, body);
    expect(await send()).toEqual([502, "a handler did not accept the event"]);
    expect(await send()).toEqual([502, "a handler did not accept the event"]);
    expect(await send()).toEqual([200, "ok"]);
    expect(await send()).toEqual([200, "ok"]);
    expect([good.received.length, bad.received.length, imports.received.length]).toEqual([1, 3, 0]);
    expect(good.received[0]).toMatchObject({
      body,
      headers: { host: new URL(good.url).host, "content-type": "application/json", "user-agent": "node" },
    });
    expect(good.received[0]!.headers["service-signature"]).toMatch(/^t=1767603600,v1=[0-9a-f]{64}$/);
    expect(listener.events()).toHaveLength(1);
    await listener.stop();
    const at = "2026-01-05T09:00:00.000Z";
    const [event, ...results] = world.logLines();
    expect(event.handlers).toEqual([good.url, bad.url]);
    expect(results.sort((one, other) => one.url.localeCompare(other.url) || 0)).toEqual(
      [
        { result_of: "evt_1", url: good.url, status: 204, at },
        { result_of: "evt_1", url: bad.url, status: 500, line: "Oops", at },
        { result_of: "evt_1", url: bad.url, status: 500, line: "Oops", at },
        { result_of: "evt_1", url: bad.url, status: 200, line: "fine", at },
      ].sort((one, other) => one.url.localeCompare(other.url) || 0),
    );
  });

  test("a restart sends a retry only to handlers without a 2xx", async () => {
    const world = await listenWorld({ env: elsewhere });
    const good = await startHandler(() => [204]);
    const bad = await startHandler((_, count) => [count === 1 ? 503 : 200]);
    const flags = `--forward-to ${good.url} --forward-to ${bad.url}`;
    const first = await world.listen(flags);
    expect((await world.send(first.first.listening, eventText("evt_1")))[0]).toBe(502);
    await first.stop();
    const second = await world.listen(flags);
    expect((await world.send(second.first.listening, eventText("evt_1")))[0]).toBe(200);
    expect([good.received.length, bad.received.length, second.events().length]).toEqual([1, 2, 0]);
    await second.stop();
  });

  longTest(
    "a handler is cut after 10 s, one that is missing is reported, and the same event waits",
    async () => {
      const world = await listenWorld({ env: elsewhere });
      const slow = await startHandler(() => "never");
      const listener = await world.listen(`--forward-to ${slow.url} --forward-to http://127.0.0.1:1/`);
      const sent = [1, 2].map(() => world.send(listener.first.listening, eventText("evt_1")));
      await until(() => slow.received.length === 1 && world.logLines().length === 2);
      // One more request: its response shows that both deliveries were read before.
      expect((await world.send(listener.first.listening, "x", { header: "x" }))[0]).toBe(400);
      world.clock.advance(10_000);
      expect(await Promise.all(sent)).toEqual([
        [502, "a handler did not accept the event"],
        [502, "a handler did not accept the event"],
      ]);
      await listener.stop();
      expect(slow.received).toHaveLength(1);
      expect(world.logLines().slice(1)).toEqual([
        {
          result_of: "evt_1",
          url: "http://127.0.0.1:1/",
          status: null,
          error: "connection refused",
          at: "2026-01-05T09:00:00.000Z",
        },
        {
          result_of: "evt_1",
          url: slow.url,
          status: null,
          error: "no response within 10 s",
          at: "2026-01-05T09:00:10.000Z",
        },
      ]);
    },
  );

  test("says at Ctrl-C that it waits for a handler", async () => {
    const world = await listenWorld({ env: elsewhere });
    const slow = await startHandler(() => "never");
    const running = world.cat(`webhooks listen --port 0 --forward-to ${slow.url}`);
    await until(() => running.stderr.includes("Events are stored"));
    const [url = ""] = /http:\S+\/(?=\.)/.exec(running.stderr) ?? [];
    const sent = world.send(url, eventText("evt_1"));
    await until(() => slow.received.length === 1);
    running.interrupt();
    await until(() => running.stderr.includes("Waiting for a handler to respond (10 seconds at most)."));
    world.clock.advance(10_000);
    expect((await sent)[0]).toBe(502);
    expect(await running).toMatchObject({ exit: 0 });
  });
});

test("events that a killed listener has logged but not shown are shown by the next one, once, by its --events", async () => {
  const world = await listenWorld({
    env: { CAT_BASE_URL: "https://a.example.com", CAT_WEBHOOK_SECRET: "whsec_of_test" },
  });
  const log = join(world.folder, "l.ndjson");
  const first = await world.listen("--log l.ndjson");
  for (const id of ["evt_1", "evt_2", "evt_3"]) await world.send(first.first.listening, eventText(id));
  await world.send(first.first.listening, eventText("evt_4", "task.failed"));
  await first.stop();
  expect([first.events().length, existsSync(`${log}-shown`)]).toEqual([4, false]);
  // As after a kill between the log and the terminal.
  const { dev, ino } = statSync(log);
  writeFileSync(`${log}-shown`, JSON.stringify({ dev, ino, events: 1 }));
  const second = await world.listen("--log l.ndjson --events import.* --wait import.completed --count 1");
  await until(() => second.events().length === 2);
  expect(second.events().map(({ id, missed }) => [id, missed])).toEqual([
    ["evt_2", true],
    ["evt_3", true],
  ]);
  // They do not count.
  expect(await world.send(second.first.listening, eventText("evt_5"))).toEqual([200, "ok"]);
  expect(await second.running).toMatchObject({ exit: 0 });
  expect(second.events()[2]).toMatchObject({ id: "evt_5" });
  expect(second.events()[2]).not.toHaveProperty("missed");
  const third = await world.listen("--log l.ndjson");
  expect(await world.send(third.first.listening, eventText("evt_3"))).toEqual([200, "ok"]);
  await third.stop();
  expect([third.events(), existsSync(`${log}-shown`)]).toEqual([[], false]);
  writeFileSync(`${log}-shown`, JSON.stringify({ dev, ino, events: 3 }));
  const plain = world.cat("webhooks listen --port 0 --log l.ndjson --events task.*");
  await until(() => plain.stdout.includes("\n"));
  plain.interrupt();
  const { stdout, stderr } = await plain;
  expect([stdout.split("\n").length, stderr.split("\n").at(-2)]).toEqual([
    2,
    "Showing 1 event that an earlier listener received but did not show:",
  ]);
});
