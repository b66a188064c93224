import { hash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifyWebhook } from "../../../src/client/verify-webhook.ts";
import { openState } from "../../../src/state/state.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { eventText, jsonLines, listenWorld, startHandler } from "./listen-world.ts";

const retriesMs = 26_460_000;

/** The warning of a listener that keeps its webhook. */
const keptWarning = (id: string, url: string) => ({
  message: `webhook ${id} was kept: events from before its takeover may be pending`,
  hint: `The next cat webhooks listen at ${url} takes it over. To abandon its events: cat webhooks delete ${id}`,
});

/** A service with the webhooks of killed listeners, and a port that is free. */
async function leftWorld() {
  const world = await listenWorld();
  const first = await world.listen();
  const url = first.first.listening;
  await first.stop();
  const port = new URL(url).port;
  const state = await openState(join(world.folder, ".home/state/default.db"), { clock: world.clock });
  onTestFinished(() => state.close());
  const fingerprint = hash("sha256", world.mock.apiKey).slice(0, 32);
  return {
    ...world,
    url,
    port,
    webhooks: () => world.mock.state().organizations.main.webhooks,
    marks: () => state.marks.list(world.mock.baseUrl, "listen "),
    async post(path: string, body: unknown, method = "POST") {
      const headers = { authorization: "Bearer ak_mock", "content-type": "application/json" };
      const response = await fetch(world.mock.baseUrl + path, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as { id: string; signing_secret: string };
    },
    /** Leaves a webhook as a killed listener does; with `known` null, as before the response that named it. */
    async leave(runId: string, at: string, known: "known" | null = "known", more: object = {}) {
      const events = ["task.failed", "import.completed"];
      const made = await this.post("/v1/webhooks", {
        url: at,
        events,
        description: `cat webhooks listen ${runId}`,
      });
      const mark = known === null ? { id: null } : { id: made.id, secret: made.signing_secret };
      this.mark(runId, { ...mark, url: at, ...more });
      return made;
    },
    mark(runId: string, mark: object) {
      const text = JSON.stringify({ keyFingerprint: fingerprint, ...mark });
      state.marks.set(world.mock.baseUrl, `listen ${runId}`, text);
    },
  };
}

test.each(sampled(["known", null, "not found by its ID for once"] as const, 1))(
  "a webhook that a killed listener left at the URL is taken over with its pending deliveries: %s",
  async (known) => {
    const world = await leftWorld();
    const made = await world.leave("run_a", world.url, known === null ? null : "known");
    if (known?.startsWith("not"))
      await world.post("/_mock/faults", {
        match: { method: "GET", path: "/v1/webhooks/" },
        times: 1,
        status: 404,
      });
    expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
    await world.mock.settled();
    // As after the last of several events that nobody received.
    await world.post(`/v1/webhooks/${made.id}`, { status: "paused" }, "PATCH");
    const states = () => world.mock.deliveries().map(({ state }) => state);
    expect(states()).toEqual(["pending"]);
    const listener = world.cat(`webhooks listen --port ${world.port} --events import.*`);
    await until(() => listener.stderr.includes("Events are stored"));
    expect(listener.stderr.split("\n")[0]).toBe(
      `Took over webhook ${made.id}, which an earlier listener had left. The service sends its pending events again within about six hours.`,
    );
    expect(world.webhooks().map(({ id, status, events }) => ({ id, status, events }))).toEqual([
      { id: made.id, status: "active", events: ["import.completed", "import.failed"] },
    ]);
    world.clock.advance(60_000);
    await until(() => listener.stdout !== "");
    await world.mock.settled();
    expect(states()).toEqual(["delivered"]);
    // The secret is only in the state, which is closed to other users.
    const [webhook] = world.webhooks();
    expect(webhook!.signing_secret === made.signing_secret).toBe(known !== null);
    expect(world.marks().map(({ name, value }) => [name, JSON.parse(value).secret])).toEqual([
      ["listen run_a", webhook!.signing_secret],
    ]);
    expect(listener.stderr + listener.stdout).not.toContain("whsec_");
    listener.interrupt();
    expect(await listener).toMatchObject({ exit: 0 });
    const { message, hint } = keptWarning(made.id, world.url);
    expect(listener.stderr).toMatch(`warning: ${message}\n${hint}\n`);
    expect(world.webhooks()).toEqual([webhook]);
  },
);

const ends: [end: string, flags: string, exit: number][] = [
  ["Ctrl-C", "", 0],
  ["SIGTERM", "", 143],
  ...repetitions<[string, string, number][]>(
    [],
    [
      ["--count", "--count 1", 0],
      ["--wait", "--wait import.*", 0],
      ["--timeout", "--timeout 30s", 7],
    ],
  ),
];

test.each(sampled(ends, 1))(
  "no end of a listener abandons pending events of a webhook that it took over: %s",
  async (end, flags, exit) => {
    const world = await leftWorld();
    const { id } = await world.leave("run_a", world.url);
    for (const name of ["b", "c", "d", "e"]) {
      world.write(`${name}.csv`, `reference,name,images\n${name},Dress,https://cdn.example.com/1.jpg\n`);
      expect(await world.cat(`import ${name}.csv --quiet`)).toMatchObject({ exit: 0 });
    }
    await world.mock.settled();
    const states = () => world.mock.deliveries().map(({ state }) => state);
    const first = await world.listen(`--port ${world.port} ${flags}`);
    if (flags === "--timeout 30s") world.clock.advance(30_000);
    else if (flags !== "") {
      const secret = world.webhooks()[0]!.signing_secret;
      expect(await world.send(world.url, eventText("evt_new"), { secret })).toEqual([200, "ok"]);
    } else first.running.interrupt(end === "SIGTERM" ? "SIGTERM" : "SIGINT");
    expect((await first.running).exit).toBe(exit);
    expect(jsonLines(first.running.stderr).filter(({ warning }) => warning)).toEqual([
      { warning: keptWarning(id, world.url) },
    ]);
    expect(states()).toEqual(["pending", "pending", "pending", "pending"]);
    const second = await world.listen(`--port ${world.port}`);
    expect(second.first.webhook_id).toBe(id);
    world.clock.advance(300_000);
    await world.mock.settled();
    expect(states()).toEqual(["delivered", "delivered", "delivered", "delivered"]);
  },
);

longTest(
  "a webhook that was taken over is kept while events from before the takeover may be pending",
  async () => {
    const world = await leftWorld();
    const { id } = await world.leave("run_a", world.url);
    const listenFor = async (ms: number) => {
      const listener = await world.listen(`--port ${world.port}`);
      expect(listener.first.webhook_id).toBe(id);
      world.clock.advance(ms);
      return listener.stop();
    };
    // While nobody listens, the service adds events: each takeover counts from its start.
    for (const ms of [1_000, retriesMs - 1]) {
      const kept = await listenFor(ms);
      expect(jsonLines(kept.stderr).filter(({ warning }) => warning)).toEqual([
        { warning: keptWarning(id, world.url) },
      ]);
      world.clock.advance(retriesMs);
    }
    const last = await listenFor(retriesMs);
    expect([last.exit, jsonLines(last.stderr).filter(({ warning }) => warning)]).toEqual([0, []]);
    expect([world.webhooks(), world.marks()]).toEqual([[], []]);
  },
);

test("a webhook that was taken over keeps the secret that the state has", async () => {
  const world = await leftWorld();
  const { signing_secret: secret } = await world.leave("run_a", world.url);
  const listener = await world.listen(`--port ${world.port}`);
  expect(await world.send(world.url, eventText("evt_1"), { secret })).toEqual([200, "ok"]);
  expect(world.webhooks().map((webhook) => webhook.signing_secret)).toEqual([secret]);
  await listener.stop();
});

test("--keep-webhook keeps the webhook, its secret and its pending events for the next run at its URL", async () => {
  const world = await leftWorld();
  const flags = `--port ${world.port} --print-secret --keep-webhook`;
  const first = await world.listen(flags);
  const { exit, stderr } = await first.stop();
  expect([exit, stderr]).toEqual([0, ""]);
  const [webhook] = world.webhooks();
  expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  await world.mock.settled();
  const second = await world.listen(flags);
  const told = ({ first: { webhook_id, ...more } }: typeof first) => [
    webhook_id,
    (more as { signing_secret?: string }).signing_secret,
  ];
  expect(told(second)).toEqual(told(first));
  expect(told(second)).toEqual([webhook!.id, webhook!.signing_secret]);
  world.clock.advance(60_000);
  await until(() => second.events().length > 0);
  expect(second.events()[0].type).toBe("import.completed");
  await second.stop();
  expect(world.webhooks().map(({ id }) => id)).toEqual([webhook!.id]);
});

test("a listener says that handlers get deliveries signed with CAT_WEBHOOK_SECRET", async () => {
  const world = await listenWorld({ env: { CAT_WEBHOOK_SECRET: "whsec_of_handler" } });
  const running = world.cat("webhooks listen --port 0 --forward-to http://127.0.0.1:9/");
  const sentence = "Handlers get deliveries that are signed with CAT_WEBHOOK_SECRET.";
  await until(() => running.stderr.includes(sentence));
  running.interrupt();
  expect(await running).toMatchObject({ exit: 0 });
});

longTest(
  "CAT_WEBHOOK_SECRET is the secret that handlers check, also of a webhook of the listener",
  async () => {
    const world = await listenWorld({ env: { CAT_WEBHOOK_SECRET: "whsec_of_handler" } });
    const handler = await startHandler(() => [200]);
    const listener = await world.listen(`--forward-to ${handler.url} --print-secret`);
    expect(listener.first).toMatchObject({ signing_secret: "whsec_of_handler" });
    expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
    await until(() => handler.received.length > 0);
    const [{ headers, body }] = handler.received as [(typeof handler.received)[number]];
    const [webhook] = world.mock.state().organizations.main.webhooks;
    const read = (secret: string) => () =>
      verifyWebhook({
        header: String(headers["service-signature"]),
        rawBody: body,
        secret,
        now: world.clock.now(),
      });
    expect(read("whsec_of_handler")()).toMatchObject({ type: "import.completed" });
    expect(read(webhook!.signing_secret)).toThrow("signature");
    // Deliveries of the service have the secret of its webhook.
    expect(
      (await world.send(listener.first.listening, eventText("evt_9"), { secret: "whsec_of_handler" }))[0],
    ).toBe(400);
    const [line] = world.logLines();
    world.write("body.json", line.body);
    expect(
      await world.cat([
        "webhooks",
        "verify",
        "--header",
        line.header,
        "--file",
        "body.json",
        "--tolerance",
        "999999999",
      ]),
    ).toMatchObject({ exit: 0 });
    await listener.stop();
  },
);

longTest("a listener that could not delete its webhook leaves it to the next one", async () => {
  const world = await leftWorld();
  const first = world.cat(`webhooks listen --port ${world.port}`);
  await until(() => first.stderr.includes("Events are stored"));
  const [webhook] = world.webhooks();
  await world.post("/_mock/faults", { match: { method: "DELETE" }, status: 403, times: 1 });
  first.interrupt();
  expect((await first).stderr.split("\n").at(-2)).toBe(
    `Could not delete webhook ${webhook!.id}. The next cat webhooks listen at its URL takes it over.`,
  );
  const second = await world.listen(`--port ${world.port}`);
  expect(second.first.webhook_id).toBe(webhook!.id);
  const { stderr } = await second.stop();
  expect(jsonLines(stderr).at(-1)).toEqual({ warning: keptWarning(webhook!.id, world.url) });
});

test("webhooks that are not of a killed listener at the URL are kept, and those of killed ones are reported", async () => {
  const world = await leftWorld();
  const alive = await world.listen("--log alive.ndjson");
  const far = await world.leave("run_far", "http://127.0.0.1:1/");
  const own = await world.post("/v1/webhooks", {
    url: world.url,
    events: ["task.failed"],
    description: "mine",
  });
  world.mark("run_gone", { id: "01HN1H1W0GSW3FEDFHVM37G3BF", url: world.url });
  world.mark("run_unborn", { id: null, url: world.url });
  world.mark("run_other", {
    id: "01HN1H1W0GSW3FEDFHVM37G3BF",
    url: world.url,
    keyFingerprint: "of another key",
  });
  const next = await world.listen(`--port ${world.port}`);
  const created = next.first.webhook_id;
  await next.stop();
  expect(created).not.toBe(own.id);
  expect(jsonLines(next.running.stderr)).toEqual([
    {
      warning: {
        message: `webhook ${far.id} of an earlier listener still gets events, at http://127.0.0.1:1/`,
        hint: `To get them, listen at that URL again. To abandon them: cat webhooks delete ${far.id}`,
      },
    },
  ]);
  expect(
    world
      .webhooks()
      .map(({ id }) => id)
      .sort(),
  ).toEqual([alive.first.webhook_id, far.id, own.id].sort());
  await alive.stop();
  expect(world.marks().map(({ name }) => name)).toEqual(["listen run_far", "listen run_other"]);
});

test("a webhook that cannot be taken over keeps its pending events, and the error names what shows the ended tasks", async () => {
  const world = await leftWorld();
  const { id } = await world.leave("run_a", world.url);
  await world.post("/_mock/faults", { match: { method: "PATCH" }, status: 403 });
  const ran = await world.cat(`webhooks listen --port ${world.port}`);
  expect(ran.exit).toBe(4);
  expect(ran.stderr.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(`^error: cannot take over webhook ${id} of an earlier listener: `),
    `It keeps its pending events; the service does not report their number. To see what has ended: cat tasks list, cat imports list, cat exports list. To abandon its events: cat webhooks delete ${id}`,
  ]);
  expect([world.webhooks().length, world.marks().length]).toEqual([1, 1]);
});

test("two listeners with one public URL: the second one exits with 6 and creates nothing", async () => {
  const world = await leftWorld();
  const first = await world.listen("--public-url https://t.example.com/ --log one.ndjson");
  expect(await world.cat("webhooks listen --port 0 --public-url https://t.example.com/")).toEqual({
    exit: 6,
    stdout: "",
    stderr: "error: process 4711 is listening at https://t.example.com/\nStop it, or use another URL.\n",
  });
  expect(world.webhooks().map(({ id }) => id)).toEqual([first.first.webhook_id]);
  await first.stop();
  expect([world.webhooks(), world.marks()]).toEqual([[], []]);
});

longTest("a webhook that was created although a gateway responded 403 is deleted", async () => {
  const world = await listenWorld();
  const created: unknown[] = [];
  const gateway = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url = "/", headers } = request;
    const key = headers["idempotency-key"];
    const passed = await fetch(world.mock.baseUrl + url, {
      method,
      headers: {
        ...{ authorization: headers.authorization!, "content-type": "application/json" },
        ...(key !== undefined && { "idempotency-key": String(key) }),
      },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const text = await passed.text();
    if (method !== "POST") {
      response.writeHead(passed.status, { "content-type": "application/json" }).end(text);
      return;
    }
    created.push(JSON.parse(text).id);
    response.writeHead(403, { "content-type": "text/html" }).end("<h1>Forbidden</h1>");
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void gateway.close());
  const env = { CAT_BASE_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` };
  expect((await world.cat("webhooks listen --port 0", { env })).exit).toBeGreaterThan(0);
  expect(new Set(created).size).toBe(1);
  expect(world.mock.state().organizations.main.webhooks).toEqual([]);
});

longTest("an event that was not accepted is reported when the webhook is deleted", async () => {
  const world = await leftWorld();
  const listener = await world.listen(`--port ${world.port} --forward-to http://127.0.0.1:1/`);
  expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  await world.mock.settled();
  await listener.stop();
  expect(jsonLines(listener.running.stderr).at(-1)).toEqual({
    warning: {
      message:
        "1 event was not accepted; the service does not send it again, because the webhook was deleted",
      hint: "Send events of the log with cat webhooks replay --failed. To see what has ended: cat tasks list, cat imports list, cat exports list.",
    },
  });
});
