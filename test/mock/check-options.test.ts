import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { MovableClock, readState, startMock } from "../../src/mock/index.ts";

type Options = Parameters<typeof startMock>[0];

/** Returns the error of a start. A mock that starts is stopped, because it would outlive the test. */
async function startError(options: unknown): Promise<unknown> {
  try {
    const mock = await startMock(options as Options);
    await mock.stop();
    return "was started";
  } catch (error) {
    return error;
  }
}

describe("an invalid option", () => {
  test.each([
    [{ port: -1 }, "port must be a whole number from 0 to 65535, not -1"],
    [{ port: 65_536 }, "port must be a whole number from 0 to 65535, not 65536"],
    [{ port: "4010" }, 'port must be a whole number from 0 to 65535, not "4010"'],
    [{ host: "" }, 'host must be an address or a host name, not ""'],
    [{ seed: "a" }, 'seed must be a whole number from 0 to 999999999999999, not "a"'],
    [{ seed: 1.5 }, "seed must be a whole number from 0 to 999999999999999, not 1.5"],
    [{ seed: null }, "seed must be a whole number from 0 to 999999999999999, not null"],
    [{ demo: -1 }, "demo must be a whole number from 0 to 1000000, not -1"],
    [{ demo: 1.5 }, "demo must be a whole number from 0 to 1000000, not 1.5"],
    [{ demo: "3" }, 'demo must be a whole number from 0 to 1000000, not "3"'],
    [{ demo: 1_000_001 }, "demo must be a whole number from 0 to 1000000, not 1000001"],
    [{ demo: 3n }, "demo must be a whole number from 0 to 1000000, not 3"],
    [{ speed: 0 }, "speed must be a number above 0, from 1e-9 to 1000000000000000, not 0"],
    [{ speed: -1 }, "speed must be a number above 0, from 1e-9 to 1000000000000000, not -1"],
    [{ speed: Number.NaN }, "speed must be a number above 0, from 1e-9 to 1000000000000000, not NaN"],
    [
      { speed: Number.POSITIVE_INFINITY },
      "speed must be a number above 0, from 1e-9 to 1000000000000000, not Infinity",
    ],
    [
      { rateLimit: true },
      "rateLimit must be false, or { reads, writes } with whole numbers from 1 to 999999999, not true",
    ],
    [
      { rateLimit: { reads: 1 } },
      "rateLimit must be false, or { reads, writes } with whole numbers from 1 to 999999999, not this object",
    ],
    [
      { rateLimit: { reads: 0, writes: 1 } },
      "rateLimit must be false, or { reads, writes } with whole numbers from 1 to 999999999, not this object",
    ],
    [
      { rateLimit: [600, 60] },
      "rateLimit must be false, or { reads, writes } with whole numbers from 1 to 999999999, not a list",
    ],
    [{ clock: Date }, "clock must be a MovableClock, not a function"],
    [{ clock: { now: Date.now } }, "clock must be a MovableClock, not this object"],
    ...["sleep", "advance", "nextDue"].map((missing): [object, string] => [
      { clock: Object.assign(new MovableClock(), { [missing]: undefined }) },
      "clock must be a MovableClock, not this object",
    ]),
    ...[-1, Number.NaN, "2026", 1e18, undefined].map((moment): [object, string] => [
      { clock: Object.assign(new MovableClock(), { now: () => moment }) },
      "clock must be a MovableClock, not this object",
    ]),
    [
      { rateLimit: { reads: 1, writes: 1, x: 1 } },
      "rateLimit must be false, or { reads, writes } with whole numbers from 1 to 999999999, not this object",
    ],
    [{ latency: 5 }, "unknown option latency; did you mean latencyMs?"],
    [{ prot: 1 }, "unknown option prot; did you mean port?"],
    [{ anything: null }, "unknown option anything"],
    [{ network: { connect: "x" } }, 'network.connect must be a function, not "x"'],
    [{ network: { resolve: 5 } }, "network.resolve must be a function, not 5"],
    [{ network: { time: {} } }, "network.time must be a clock, not this object"],
    [{ network: { authorities: 5 } }, "network.authorities must be certificates as a PEM string, not 5"],
    [{ network: { conect: () => null } }, "unknown option network.conect; did you mean network.connect?"],
    [{ latencyMs: -5 }, "latencyMs must be a whole number from 0 to 600000, not -5"],
    [{ latencyMs: 600_001 }, "latencyMs must be a whole number from 0 to 600000, not 600001"],
    [{ strict: "no" }, 'strict must be true or false, not "no"'],
    [{ fetchImages: 1 }, "fetchImages must be true or false, not 1"],
    [{ network: null }, "network must be an object with functions, not null"],
    ...[
      "",
      "mock:4010",
      "ftp://mock",
      "http://me@mock",
      "http://mock?a",
      "http://mock/v1/",
      "http:/mock",
    ].map((baseUrl): [object, string] => [
      { baseUrl },
      `baseUrl must be an http:// or https:// URL without /v1, query and credentials, not "${baseUrl}"`,
    ]),
    ...[["*"], ["*.example.com"], ["mock:4010"], ["http://mock"], [""], ["mock", 5]].map(
      (allowHosts): [object, string] => [
        { allowHosts },
        "allowHosts must be a list of exact host names, without ports and wildcards, not a list",
      ],
    ),
    [
      { allowHosts: "*" },
      'allowHosts must be a list of exact host names, without ports and wildcards, not "*"',
    ],
    [{ state: {} }, "invalid state: version: must be 1"],
    [{ state: null }, "invalid state: the state must be an object"],
  ])("is named in the error: %o", async (options, sentence) => {
    const error = await startError(options);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toBe(`startMock: ${sentence}`);
  });

  test.each([[null], ["4010"], [[]], [4010]])("is any value except an object: %o", async (options) => {
    expect(await startError(options)).toEqual(new TypeError("startMock: options must be an object"));
  });

  test("is reported before the mock listens on a port", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect(await startError({ port, speed: 0 })).toBeInstanceOf(TypeError);
  });
});

test("the check of options accepts the minimum and maximum of each option, and treats undefined as not set", async () => {
  for (const options of [
    { port: 0, seed: 0, demo: 0, speed: 1e-9, rateLimit: { reads: 1, writes: 1 }, latencyMs: 0 },
    {
      seed: 999_999_999_999_999,
      speed: 1e15,
      rateLimit: false,
      latencyMs: 600_000,
      clock: new MovableClock(),
    },
    {
      port: undefined,
      seed: undefined,
      state: undefined,
      clock: undefined,
      rateLimit: undefined,
      speed: undefined,
      anything: undefined,
      network: { connect: undefined },
    },
  ]) {
    expect(await startError(options)).toBe("was started");
  }
});

test("the check of options accepts a state from a mock, from JSON, and from readState", async () => {
  const first = await startMock({ seed: 1, demo: 2 });
  const state = first.state();
  const json = JSON.parse(Buffer.concat(first.printedState()).toString());
  await first.stop();
  for (const given of [state, json, readState(json)]) {
    const mock = await startMock({ state: given });
    expect(mock.state().organizations.main.products).toEqual(state.organizations.main.products);
    await mock.stop();
  }
});
