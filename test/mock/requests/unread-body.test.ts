import { EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { handleBadConnections } from "../../../src/mock/requests/parser-errors.ts";
import { discardBody, endAfterBody } from "../../../src/mock/requests/unread-body.ts";
import { monday, silentWorld } from "../world.ts";

// Connections time out in real time, which a test should not wait for.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a body still arriving after the response", () => {
  function responded(headers: Record<string, string>, complete = false) {
    const socket = { destroy: vi.fn() };
    const pause = vi.fn();
    const request = Object.assign(new EventEmitter(), { headers, complete, socket, pause });
    const response = { flushHeaders: vi.fn(), write: vi.fn(), end: vi.fn() };
    endAfterBody(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
      "the response",
    );
    return { request, response, socket, pause };
  }

  test("gets the response at once, but its end only after the body", () => {
    const { request, response } = responded({ "content-length": "9" });
    expect(response.write.mock.calls).toEqual([["the response"]]);
    expect(response.end).not.toHaveBeenCalled();
    request.emit("end");
    expect(response.end.mock.calls).toEqual([[]]);
  });

  test("is discarded up to 64 MiB, then no longer read", () => {
    const { request, pause } = responded({ "transfer-encoding": "chunked" });
    const mebibyte = Buffer.alloc(1024 * 1024);
    for (let count = 0; count < 64; count++) request.emit("data", mebibyte);
    expect(pause).not.toHaveBeenCalled();
    request.emit("data", Buffer.alloc(1));
    expect(pause).toHaveBeenCalledOnce();
  });

  test("is cut off after five seconds", () => {
    const { socket } = responded({ "content-length": "1000000000" });
    vi.advanceTimersByTime(4_999);
    expect(socket.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.destroy).toHaveBeenCalledOnce();
  });

  test("keeps its connection if it ends in time", () => {
    const { request, socket } = responded({ "content-length": "9" });
    request.emit("close");
    vi.advanceTimersByTime(10_000);
    expect(socket.destroy).not.toHaveBeenCalled();
  });

  test("is discarded within the same limits if the response ends by itself", () => {
    const socket = { destroy: vi.fn() };
    const request = Object.assign(new EventEmitter(), {
      headers: { "content-length": "9" },
      complete: false,
      socket,
    });
    discardBody(request as unknown as IncomingMessage);
    expect(request.listenerCount("data")).toBe(1);
    vi.advanceTimersByTime(5_000);
    expect(socket.destroy).toHaveBeenCalledOnce();
  });

  test.each([
    ["missing", {}, false],
    ["empty", { "content-length": "0" }, false],
    ["complete", { "content-length": "9" }, true],
  ])("is not awaited if it is %s", (_name, headers, complete) => {
    const { request, response, socket } = responded(headers as Record<string, string>, complete);
    expect(response.write.mock.calls).toEqual([["the response"]]);
    expect(response.end.mock.calls).toEqual([[]]);
    expect(request.listenerCount("data")).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(socket.destroy).not.toHaveBeenCalled();
  });
});

test("a client that did not send HTTP is cut off five seconds after the response", () => {
  const world = silentWorld(new MovableClock({ frozenAt: monday }));
  const server = new EventEmitter();
  handleBadConnections(world, server as unknown as Server);
  const socket = Object.assign(new EventEmitter(), { writable: true, end: vi.fn(), destroy: vi.fn() });
  server.emit("clientError", new Error("no HTTP"), socket);
  expect(socket.end).toHaveBeenCalledOnce();
  expect(socket.end.mock.calls[0]![0]).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
  vi.advanceTimersByTime(4_999);
  expect(socket.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(socket.destroy).toHaveBeenCalledOnce();
});
