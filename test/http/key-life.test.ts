import { afterEach, expect, test } from "vitest";
import type { Clocks } from "../../src/clock.ts";
import { hour } from "../flows/import/import-fixtures.ts";
import { TestClock } from "../support/test-clock.ts";
import { closeAll, coreAgainst } from "./core.ts";
import { json, reset, type Step } from "./scripted-server.ts";

afterEach(closeAll);

/** A core whose keys live for 23 hours; `clocks` are those of the machine and the service. */
async function coreWithKeys(steps: (clocks: { machine: TestClock; ahead: { ms: number } }) => Step[]) {
  const machine = new TestClock();
  const ahead = { ms: 30 * hour };
  const serviceNow = () => machine.now() + ahead.ms;
  const core = await coreAgainst(steps({ machine, ahead }), {
    ...{ clock: machine, keyLife: { serviceNow, lifeMs: 23 * hour } },
  });
  const words: boolean[] = [];
  const { origin } = core.server;
  const write = (keyFrom?: Clocks) =>
    core.send(
      { ...{ method: "POST", path: "/v1/things", origin, headers: {}, body: null }, keyFrom },
      { onDoubt: (inDoubt) => words.push(inDoubt) },
    );
  return { ...core, machine, words, write };
}

const expired = {
  ...{ type: "timeout", code: "key_expired", hint: "Run the same command again." },
  message: "POST /v1/things was not sent: it waited for longer than 23 h, until its idempotency key expired",
};

const usedUp = (machine: TestClock) => ({
  "x-ratelimit-limit": "1",
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": String(Math.ceil(machine.now() / 1000) + 60),
});

test("a write is not sent again after the service's clock moved on while it waited for a retry", async () => {
  const { write, server, words } = await coreWithKeys(({ ahead }) => [
    (response, seen) => {
      ahead.ms += 23 * hour;
      reset(response, seen);
    },
    json(201, {}),
  ]);
  await expect(write()).rejects.toMatchObject(expired);
  expect(server.requests).toHaveLength(1);
  // The first attempt may have been carried out.
  expect(words).toEqual([false, true]);
});

test("a write is not sent after the machine slept while it waited for the rate limit window", async () => {
  const { write, server, words, machine } = await coreWithKeys(({ machine }) => [
    (response, seen) => json(201, {}, usedUp(machine))(response, seen),
    json(201, {}),
  ]);
  await write();
  words.length = 0;
  const waiting = write().catch((error: unknown) => error);
  machine.advance(23 * hour);
  expect(await waiting).toMatchObject(expired);
  expect(server.requests).toHaveLength(1);
  expect(words).toEqual([false]);
});

test("a write with a key of an earlier process is as old as that key", async () => {
  const { write, server, machine } = await coreWithKeys(() => [json(201, {})]);
  const since = (hours: number) => machine.now() - hours * hour;
  const there = (hours: number) => since(hours) + 30 * hour;
  await expect(write({ here: since(23), service: there(1) })).rejects.toMatchObject(expired);
  await expect(write({ here: since(1), service: there(23) })).rejects.toMatchObject(expired);
  expect(server.requests).toHaveLength(0);
  expect((await write({ here: since(22), service: there(22) })).status).toBe(201);
});

test("only this machine's clock counts until the service's time was known, because the two may differ by days", async () => {
  const { write, machine, server } = await coreWithKeys(() => [json(201, {})]);
  const since = (hours: number) => ({ here: machine.now() - hours * hour, service: null });
  expect((await write(since(22))).status).toBe(201);
  await expect(write(since(23))).rejects.toMatchObject(expired);
  expect(server.requests).toHaveLength(1);
});

test("a read is sent however long it waited", async () => {
  const { get, server, machine } = await coreWithKeys(({ machine }) => [
    (response, seen) => json(200, {}, usedUp(machine))(response, seen),
    json(200, {}),
  ]);
  await get();
  const waiting = get();
  machine.advance(30 * hour);
  expect((await waiting).status).toBe(200);
  expect(server.requests).toHaveLength(2);
});
