import { isOfService } from "../../src/client/read-response.ts";
import { MovableClock } from "../../src/clock.ts";
import { type Connections, openConnections } from "../../src/http/connections.ts";
import { type HttpCoreOptions, httpCore } from "../../src/http/http-core.ts";
import type { Message } from "../../src/http/send.ts";
import { TestClock } from "../support/test-clock.ts";
import { type ScriptedServer, type Step, scriptedServer, stopServers } from "./scripted-server.ts";

const opened: Connections[] = [];

/** A core in front of a scripted server; the clock jumps over sleeps while no exchange is in flight. */
export async function coreAgainst(steps: Step[], options: Partial<HttpCoreOptions> = {}) {
  const server = await scriptedServer(...steps);
  return { server, ...coreFor(server, options) };
}

/** A core in front of a running server. */
export function coreFor(server: ScriptedServer, options: Partial<HttpCoreOptions> = {}) {
  const clock = options.clock ?? new TestClock();
  const connections = openConnections({ isDirect: () => true });
  opened.push(connections);
  const send = httpCore({
    ...{ origin: server.origin, apiKey: "ak_test_key_0123456789", connections, random: () => 0.5 },
    isOfService,
    ...options,
    clock,
  });
  const message = (method: Message["method"], path: string, more: Partial<Message> = {}): Message => ({
    ...{ method, path, origin: server.origin, headers: {}, body: null },
    ...more,
  });
  return {
    clock: clock as TestClock,
    send,
    get: (path = "/v1/things", signal?: AbortSignal) => send(message("GET", path), { signal }),
    post: (path = "/v1/things", body = "{}", headers: Record<string, string> = {}) =>
      send(message("POST", path, { body: Buffer.from(body), headers })),
  };
}

/** Closes everything a test opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((connections) => connections.close()));
  await stopServers();
}

/** A clock that is frozen and never jumps: a test moves it. */
export const stillClock = () => new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
