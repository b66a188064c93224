import { EventEmitter } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MovableClock } from "../../src/clock.ts";
import { answerBadConnections } from "../../src/mock/parser-errors.ts";
import { letGo } from "../../src/mock/rules/body.ts";
import { monday, silentWorld } from "./world.ts";

// How long connections are kept for nothing is the machine's time, which no test waits for.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a body that goes on after the answer", () => {
  function answered(headers: Record<string, string>, complete = false) {
    const socket = { destroy: vi.fn() };
    const pause = vi.fn();
    const request = Object.assign(new EventEmitter(), { headers, complete, socket, pause });
    letGo(request as unknown as IncomingMessage);
    return { request, socket, pause };
  }

  test("is read for 16 MiB, and no further", () => {
    const { request, pause } = answered({ "transfer-encoding": "chunked" });
    const mebibyte = Buffer.alloc(1024 * 1024);
    for (let count = 0; count < 16; count++) request.emit("data", mebibyte);
    expect(pause).not.toHaveBeenCalled();
    request.emit("data", Buffer.alloc(1));
    expect(pause).toHaveBeenCalledOnce();
  });

  test("has two seconds, then its connection is cut", () => {
    const { socket } = answered({ "content-length": "1000000000" });
    vi.advanceTimersByTime(1_999);
    expect(socket.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.destroy).toHaveBeenCalledOnce();
  });

  test("keeps its connection when it ends in time", () => {
    const { request, socket } = answered({ "content-length": "9" });
    request.emit("close");
    vi.advanceTimersByTime(10_000);
    expect(socket.destroy).not.toHaveBeenCalled();
  });

  test.each([
    ["none", {}, false],
    ["an empty one", { "content-length": "0" }, false],
    ["one that is over", { "content-length": "9" }, true],
  ])("%s is waited for by nobody", (_name, headers, complete) => {
    const { request, socket } = answered(headers as Record<string, string>, complete);
    expect(request.listenerCount("data")).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(socket.destroy).not.toHaveBeenCalled();
  });
});

test("whoever sent no HTTP has half a second to read what is answered, then the connection is cut", () => {
  const world = silentWorld(new MovableClock({ frozenAt: monday }));
  const server = new EventEmitter();
  answerBadConnections(world, server as unknown as Server);
  const socket = Object.assign(new EventEmitter(), { writable: true, end: vi.fn(), destroy: vi.fn() });
  server.emit("clientError", new Error("no HTTP"), socket);
  expect(socket.end).toHaveBeenCalledOnce();
  expect(socket.end.mock.calls[0]![0]).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
  vi.advanceTimersByTime(499);
  expect(socket.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(socket.destroy).toHaveBeenCalledOnce();
});
