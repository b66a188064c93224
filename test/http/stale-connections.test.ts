import { createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isOfService } from "../../src/client/read-response.ts";
import { openConnections } from "../../src/http/connections.ts";
import { httpCore } from "../../src/http/http-core.ts";
import { poster } from "../../src/http/post.ts";
import { until } from "../support/until.ts";
import { stillClock } from "./core.ts";

const atEnd: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end();
});

const headers = [
  ["content-type", "application/json"],
  ["content-length", 2],
  // The window is known, so that requests are sent at once.
  ["x-ratelimit-limit", 600],
  ["x-ratelimit-remaining", 599],
  ["x-ratelimit-reset", 4_000_000_000],
]
  .map((field) => field.join(": "))
  .join("\r\n");

/** Until undici takes a connection as free. */
async function turns() {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A server whose connections become silent, as those that a router has forgotten. */
async function server(status = () => "200 OK") {
  const sockets: Socket[] = [];
  const dead = new Set<Socket>();
  let held: (() => void)[] = [];
  let isHolding = false;
  const requests: number[] = [];
  const listening = createServer((socket) => {
    const number = sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => {
      requests.push(number);
      if (dead.has(socket)) return;
      const respond = () => socket.write(`HTTP/1.1 ${status()}\r\n${headers}\r\n\r\n{}`);
      if (isHolding) held.push(respond);
      else respond();
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  atEnd.push(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  const { port } = listening.address() as { port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    /** The number of the connection of each request. */
    requests,
    sockets,
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const respond of held) respond();
      held = [];
    },
    /** All connections so far are silent from now on. */
    kill() {
      for (const socket of sockets) dead.add(socket);
    },
  };
}

function core(origin: string) {
  const clock = stillClock();
  const connections = openConnections({ isDirect: () => true });
  atEnd.push(() => connections.close());
  const send = httpCore({
    ...{ origin, apiKey: "ak_test_key_0123456789", connections, random: () => 0, clock, isOfService },
  });
  return {
    clock,
    connections,
    get: () => send({ method: "GET", origin, path: "/", headers: {}, body: null }),
  };
}

test("the client uses no connection that is as old as one that timed out", async () => {
  const { origin, requests, hold, release, kill, sockets } = await server();
  const { clock, get } = core(origin);
  await get();
  await turns();
  hold();
  const several = Promise.all([get(), get(), get()]);
  await until(() => requests.length === 4);
  release();
  await several;
  await turns();
  expect(sockets).toHaveLength(3);
  kill();
  const late = get();
  await until(() => requests.length === 5);
  clock.advance(30_000);
  await until(() => {
    clock.advance(1);
    return requests.length === 6;
  });
  expect((await late).status).toBe(200);
  expect(requests[4]).toBeLessThanOrEqual(3);
  // The others of that time are as dead, and would each take another 30 s.
  const rest = Promise.all([get(), get(), get()]);
  await until(() => requests.length === 9);
  expect(Math.min(...requests.slice(5))).toBeGreaterThan(3);
  expect((await rest).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("the client opens another connection after 421, which comes from the wrong server", async () => {
  let status = "421 Misdirected Request";
  const { origin, requests } = await server(() => status);
  const { clock, get } = core(origin);
  const answer = get();
  await until(() => requests.length === 1 && clock.nextDue() !== null);
  status = "200 OK";
  await until(() => {
    clock.advance(100);
    return requests.length === 2;
  });
  expect((await answer).status).toBe(200);
  expect(requests).toEqual([1, 2]);
});

test("posts to a handler over another connection after a timeout", async () => {
  const { origin, requests, kill } = await server();
  const { clock, connections } = core(origin);
  const post = poster({ connections, clock });
  const one = () => post({ url: new URL(origin), headers: [], body: Buffer.from("{}"), timeoutMs: 10_000 });
  expect(await one()).toMatchObject({ status: 200 });
  await turns();
  kill();
  const late = one();
  await until(() => requests.length === 2);
  clock.advance(10_000);
  expect(await late).toMatchObject({ failure: "timeout" });
  expect(await one()).toMatchObject({ status: 200 });
  expect(requests).toEqual([1, 1, 2]);
});
