import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../src/client/verify-webhook.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { eventText, jsonLines, listenWorld, startHandler } from "./listen-world.ts";

const seeEnded = "To see what has ended: cat tasks list, cat imports list, cat exports list.";
const minute = 60_000;

async function watchWorld() {
  const world = await listenWorld();
  return {
    ...world,
    webhooks: () => world.mock.state().organizations.main.webhooks,
    /** The requests that have read a webhook. */
    reads: () =>
      world.requests().filter(({ method, path }) => method === "GET" && path.startsWith("/v1/webhooks/")),
    delete: async (id: string) => {
      expect(await world.cat(`webhooks delete ${id} --yes --quiet`)).toMatchObject({ exit: 0 });
    },
    update: async (id: string, flags: string) => {
      expect(await world.cat(`webhooks update ${id} ${flags} --quiet`)).toMatchObject({ exit: 0 });
    },
    async fault(fault: object) {
      await fetch(`${world.mock.baseUrl}/_mock/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fault),
      });
    },
  };
}

const warnings = (stderr: string) =>
  jsonLines(stderr).flatMap(({ warning }) => (warning === undefined ? [] : [warning]));

const replaced = (gone: string, id: string) => ({
  message: `webhook ${gone} no longer exists; webhook ${id} was registered instead`,
  hint: `Events of the time between are missing. ${seeEnded}`,
});

test("a listener reads its webhook every minute and registers again what was deleted, and handlers keep their secret", async () => {
  const world = await watchWorld();
  const handler = await startHandler(() => [200]);
  const listener = await world.listen(`--forward-to ${handler.url} --print-secret`);
  const { webhook_id: gone, signing_secret: secret } = listener.first as never as Record<string, string>;
  world.clock.advance(minute - 1);
  await new Promise(setImmediate);
  expect(world.reads()).toEqual([]);
  world.clock.advance(1);
  await until(() => world.reads().length === 1);
  await world.delete(gone!);
  world.clock.advance(minute);
  await until(() => warnings(listener.running.stderr).length > 0);
  const [webhook] = world.webhooks();
  expect(webhook!.signing_secret).not.toBe(secret);
  expect(warnings(listener.running.stderr)).toEqual([replaced(gone!, webhook!.id)]);

  expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  await until(() => handler.received.length > 0 && listener.events().length > 0);
  expect(listener.events()).toMatchObject([{ type: "import.completed" }]);
  const [{ headers, body }] = handler.received as [(typeof handler.received)[number]];
  const header = String(headers["service-signature"]);
  expect(verifyWebhook({ header, rawBody: body, secret: secret!, now: world.clock.now() })).toMatchObject({
    type: "import.completed",
  });
  const { listening: url } = listener.first;
  expect((await world.send(url, eventText("evt_old"), { secret: secret! }))[0]).toBe(400);
  expect((await listener.stop()).exit).toBe(0);
  expect(world.webhooks()).toEqual([]);
  expect(listener.running.stdout + listener.running.stderr).not.toContain(webhook!.signing_secret);
});

test("a jump of the clock, as after a night of sleep, is one read, and a service that lost its data gets the webhook again", async () => {
  const world = await watchWorld();
  const listener = await world.listen();
  world.mock.reset();
  world.clock.advance(8 * 60 * minute);
  await until(() => warnings(listener.running.stderr).length > 0);
  const [webhook] = world.webhooks();
  expect(warnings(listener.running.stderr)).toEqual([replaced(listener.first.webhook_id!, webhook!.id)]);
  expect(world.reads()).toHaveLength(1);
  expect((await listener.stop()).exit).toBe(0);
  expect(world.webhooks()).toEqual([]);
});

test.each(sampled(["paused", "disabled"], 1))(
  "a webhook that is %s is warned about once, with the command that resumes it",
  async (status) => {
    const world = await watchWorld();
    const listener = await world.listen();
    const id = listener.first.webhook_id!;
    const become = (next: string) => {
      const state = world.mock.state();
      for (const webhook of state.organizations.main.webhooks) webhook.status = next as never;
      return fetch(`${world.mock.baseUrl}/_mock/state`, {
        method: "PUT",
        body: JSON.stringify(state),
        headers: { "content-type": "application/json" },
      });
    };
    const read = async (times: number) => {
      world.clock.advance(minute);
      await until(() => world.reads().length === times);
      await new Promise(setImmediate);
    };
    const warning = {
      message: `webhook ${id} is ${status}: it gets no events`,
      hint: `To resume it: cat webhooks update ${id} --status active`,
    };
    expect((await become(status)).status).toBeLessThan(300);
    for (const times of [1, 2]) {
      await read(times);
      await until(() => warnings(listener.running.stderr).length > 0);
      expect(warnings(listener.running.stderr)).toEqual([warning]);
    }
    await become("active");
    await read(3);
    await become(status);
    await read(4);
    await until(() => warnings(listener.running.stderr).length > 1);
    expect((await listener.stop()).exit).toBe(0);
  },
);

longTest(
  "a service that cannot be reached changes nothing, and a webhook that cannot be registered yet is registered later",
  async () => {
    const world = await watchWorld();
    const listener = await world.listen();
    const gone = listener.first.webhook_id!;
    const passing = (holds: () => boolean) =>
      until(
        () => {
          world.clock.advance(5_000);
          return holds();
        },
        { pauseMs: 5 },
      );
    const clear = () => fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const attempts = (wanted: string) => world.requests().filter(({ method }) => method === wanted).length;
    await world.fault({ match: { method: "GET", path: "/v1/webhooks" }, drop: "before" });
    await passing(() => attempts("GET") >= 10);
    await clear();
    await world.delete(gone);
    const before = attempts("POST");
    await world.fault({ match: { method: "POST", path: "/v1/webhooks" }, status: 503 });
    await passing(() => attempts("POST") > before);
    expect(warnings(listener.running.stderr)).toEqual([]);
    await clear();
    await passing(() => warnings(listener.running.stderr).length > 0);
    expect(warnings(listener.running.stderr)).toEqual([replaced(gone, world.webhooks()[0]!.id)]);
    expect((await listener.stop()).exit).toBe(0);
    expect(world.webhooks()).toEqual([]);
  },
);

test.each([
  ["a rejected key", "GET", 401, 4],
  ["a webhook that may not be registered again", "POST", 400, 3],
] as const)("%s ends the listener with the status of the error", async (_name, method, status, exit) => {
  const world = await watchWorld();
  const listener = await world.listen();
  if (method === "POST") await world.delete(listener.first.webhook_id!);
  await world.fault({ match: { method, path: "/v1/webhooks" }, status });
  world.clock.advance(minute);
  const ran = await listener.running;
  expect(ran.exit).toBe(exit);
  expect(jsonLines(ran.stderr).at(-1).error).toMatchObject({ status, exit });
});

test("a key that may not read webhooks is warned about once, and the listener keeps listening", async () => {
  const world = await watchWorld();
  const listener = await world.listen();
  await world.fault({ match: { method: "GET", path: "/v1/webhooks" }, status: 403 });
  for (const times of [1, 2]) {
    world.clock.advance(minute);
    await until(() => world.requests().filter(({ status }) => status === 403).length === times);
    await until(() => listener.running.stderr !== "");
  }
  expect(warnings(listener.running.stderr)).toEqual([
    {
      message: expect.stringMatching(`^cannot check webhook ${listener.first.webhook_id}: `),
      hint: "Use a key with the scope webhooks:read, so that the listener notices when its webhook is deleted or paused.",
    },
  ]);
  expect((await listener.stop()).exit).toBe(0);
});

/** A listener that waits for an import, and whose COMMAND ends when `end` is called. */
async function waiting(flags = "") {
  const world = await watchWorld();
  const command = ["sh", "-c", "until [ -e go ]; do sleep 0.01; done"];
  const words = `webhooks listen --json --port 0 --wait import.completed ${flags}`.trim().split(" ");
  const running = world.cat([...words, "--", ...command], { env: { PATH: process.env.PATH } });
  await until(() => running.stderr.includes("\n"));
  const id: string = jsonLines(running.stderr)[0].webhook_id;
  return { world, running, id, end: () => writeFileSync(join(world.folder, "go"), "") };
}

test("once COMMAND has ended, a listener whose webhook is gone exits with 5, although it waits", async () => {
  const { world, running, id, end } = await waiting();
  await world.delete(id);
  end();
  const ran = await running;
  expect(ran.exit).toBe(5);
  expect(jsonLines(ran.stderr).at(-1)).toEqual({
    error: {
      type: "not_found",
      code: "webhook_gone",
      message: `webhook ${id} no longer exists: 0 events of 1 came. Find out what deleted it, and run the command again. ${seeEnded}`,
      exit: 5,
    },
  });
  expect(world.webhooks()).toEqual([]);
});

test("once COMMAND has ended, a listener whose webhook is paused exits with 7, although it waits", async () => {
  const { world, running, id, end } = await waiting();
  await world.update(id, "--status paused");
  end();
  const ran = await running;
  expect(ran.exit).toBe(7);
  expect(jsonLines(ran.stderr).at(-1).error).toMatchObject({
    code: "webhook_paused",
    message: `webhook ${id} is paused: it gets no events; 0 events of 1 came. To resume it: cat webhooks update ${id} --status active. Then run the command again.`,
  });
});

longTest(
  "once COMMAND has ended, a listener whose webhook lost the awaited event exits with 7; one that lost another event waits",
  async () => {
    const narrowed = await waiting();
    await narrowed.world.update(narrowed.id, "--events export.completed");
    narrowed.end();
    const ran = await narrowed.running;
    expect(ran.exit).toBe(7);
    expect(jsonLines(ran.stderr).at(-1).error).toMatchObject({
      code: "webhook_narrowed",
      message: `webhook ${narrowed.id} no longer gets all events of this listener; 0 events of 1 came. To choose its events: cat webhooks update ${narrowed.id} --events EVENTS. Then run the command again.`,
    });
    const { world, running, id, end } = await waiting();
    await world.update(id, "--events import.completed");
    end();
    await until(() => world.reads().length > 0);
    world.write("a.csv", "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
    expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
    expect((await running).exit).toBe(0);
  },
);

test("a webhook whose events others narrow is warned about once", async () => {
  const world = await watchWorld();
  const listener = await world.listen();
  const id = listener.first.webhook_id!;
  await world.update(id, "--events export.completed");
  for (const times of [1, 2]) {
    world.clock.advance(minute);
    await until(() => world.reads().length === times);
    await until(() => warnings(listener.running.stderr).length > 0);
    expect(warnings(listener.running.stderr)).toEqual([
      {
        message: `webhook ${id} no longer gets all events of this listener`,
        hint: `To choose its events: cat webhooks update ${id} --events EVENTS`,
      },
    ]);
  }
  expect((await listener.stop()).exit).toBe(0);
});

test("once COMMAND has ended, a wait lasts an hour at most without --timeout, and the event that comes ends it", async () => {
  const lost = await waiting();
  lost.end();
  await until(() => lost.world.reads().length > 0);
  lost.world.clock.advance(60 * minute);
  const ran = await lost.running;
  expect([ran.exit, jsonLines(ran.stderr).at(-1).error.message]).toEqual([
    7,
    "no event came within an hour after COMMAND ended: 0 events of 1 came. Check that the events are sent, or use --timeout to wait longer.",
  ]);
  const came = await waiting();
  came.end();
  await until(() => came.world.reads().length > 0);
  expect(await came.world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  expect(await came.running).toMatchObject({ exit: 0 });
});

test("a second interrupt leaves time to delete the webhook, and reports one that is left after 5 s", async () => {
  for (const [ms, isLeft] of [
    [4_000, false],
    [6_000, true],
  ] as const) {
    const world = await watchWorld();
    const running = world.cat("webhooks listen --port 0");
    await until(() => running.stderr.includes("Events are stored"));
    const [{ id } = { id: "" }] = world.webhooks();
    await world.fault({ match: { method: "DELETE" }, delay_ms: ms });
    running.interrupt();
    // The request has arrived once the mock waits.
    await until(() => world.clock.nextDue() !== null);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running.interrupt("SIGTERM");
    const left = `Webhook ${id} was not deleted. The next cat webhooks listen at its URL takes it over.\n`;
    world.clock.advance(5_000);
    await until(() => running.stderr.includes(left) || world.webhooks().length === 0);
    expect(running.stderr.includes(left)).toBe(isLeft);
    world.clock.advance(5_000);
    expect(await running).toMatchObject({ exit: 0 });
  }
});
