import { expect, test } from "vitest";
import * as z from "zod";
import { Caller } from "../../../src/cli/commands/mcp/caller.ts";
import { Job } from "../../../src/cli/commands/mcp/jobs.ts";
import { awaitedResult, type Outcome } from "../../../src/cli/commands/mcp/session.ts";
import type { Tool } from "../../../src/cli/commands/mcp/tools.ts";
import { MovableClock } from "../../../src/clock.ts";
import { until } from "../../support/until.ts";

function setUp() {
  const clock = new MovableClock({ frozenAt: 0 });
  const context = { clock, interrupt: new AbortController().signal };
  const same = (text: string) => text;
  const app = { context, secrets: { mask: same }, io: { asCalled: same } };
  const caller = new Caller(app as never, { root: {}, jobs: {}, isAgreed: false } as never);
  const call = async (run: Tool["run"]) => {
    const tool: Tool = { name: "t", title: "", about: "", nature: { needs: null }, input: z.object({}), run };
    const mcpReq = { signal: new AbortController().signal, requestState: () => undefined };
    const { content, isError } = (await caller.call(tool, {}, { mcpReq } as never, false)) as never as {
      content: [{ text: string }];
      isError?: boolean;
    };
    return { isError, ...JSON.parse(content[0].text) };
  };
  return { clock, call };
}

/** Ends with its call, as a request does. */
const endless: Tool["run"] = (_, { options: { signal } }) =>
  new Promise<Outcome>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );

test("polls that sleep keep no other call waiting", async () => {
  const { clock, call } = setUp();
  const polls = Array.from({ length: 16 }, () =>
    call(async () => ({ job: new Job("run_1"), until: "end", waitMs: 45_000 })),
  );
  expect(await call(async () => ({ value: { read: 1 } }))).toMatchObject({ read: 1 });
  clock.advance(45_000);
  for (const poll of await Promise.all(polls)) expect(poll).toMatchObject({ state: "running" });
});

test("the time in the queue counts, and a call that is too late does nothing", async () => {
  const { clock, call } = setUp();
  const working = Array.from({ length: 8 }, () => call(endless));
  let isRun = false;
  const late = call(async () => {
    isRun = true;
    return { value: {} };
  });
  clock.advance(45_000);
  for (const one of await Promise.all([...working, late]))
    expect(one).toMatchObject({
      isError: true,
      error: {
        code: "wait_timeout",
        message: "the call did not finish within 45 s. Nothing was changed. Use the tool again.",
      },
    });
  expect(isRun).toBe(false);
});

test("what a tool did before its command counts", async () => {
  const { clock, call } = setUp();
  let find = () => {};
  const found = new Promise<void>((resolve) => {
    find = resolve;
  });
  let isStarted = false;
  const called = call(async () => {
    await found;
    isStarted = true;
    return awaitedResult(new Job("run_1"));
  });
  clock.advance(40_000);
  find();
  await until(() => isStarted);
  clock.advance(5_000);
  expect(await called).toMatchObject({ run: "run_1", state: "running" });
});
