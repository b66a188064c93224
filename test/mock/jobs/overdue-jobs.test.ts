import { createHmac } from "node:crypto";
import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import type { MockState } from "../../../src/mock/index.ts";
import { type Received, startReceiver } from "../receiver.ts";
import { monday, row, startWorld } from "../world.ts";
import { day, iso, minute } from "../world-with-hook.ts";

const types = ["task.succeeded", "import.completed", "export.completed"];

/** A state with a task, an import and an export in progress, and a webhook for all three. */
async function stateWithJobs(url: string, clock?: MovableClock) {
  const world = await startWorld(clock && { clock });
  const { send, mock, createProduct, importRows } = world;
  const { signing_secret } = (await send("/v1/webhooks", { json: { url, events: types } })).body;
  const product_id = (await createProduct()).body.id;
  const inputs = { product_id, background: "white", angle_shot: "front" };
  const task = (await send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } })).body.id;
  const job = (await importRows([row("A")])).body.id;
  const zip = (await send("/v1/exports", { json: { format: "zip" } })).body.id;
  const state = mock.state();
  await mock.stop();
  return { state, secret: signing_secret as string, task, job, zip };
}

/** The time of a signature in milliseconds; NaN if the signature is invalid. */
function signedAt({ headers, raw }: Received, secret: string): number {
  const [, t, v1] = /^t=(\d+),v1=(\w+)$/.exec(headers["service-signature"] as string) ?? [];
  const mac = createHmac("sha256", secret).update(`${t}.`).update(raw).digest("hex");
  return mac === v1 ? Number(t) * 1000 : Number.NaN;
}

/** The same state, one day earlier. */
function dayBefore(state: MockState): MockState {
  const older = structuredClone(state);
  const { main } = older.organizations;
  for (const task of main.tasks)
    Object.assign(task, { runs_at: task.runs_at - day, ends_at: task.ends_at - day });
  for (const job of main.imports) job.validated_at -= day;
  for (const job of main.exports) job.ready_at -= day;
  return older;
}

describe("overdue jobs", () => {
  test("end with the current time when a state is restored on a frozen clock", async () => {
    const { received, url } = await startReceiver(500);
    const { state, secret, task, job, zip } = await stateWithJobs(url);
    const later = monday + day;
    const { mock, send } = await startWorld({ clock: new MovableClock({ frozenAt: later }) });
    await send("/_mock/state", { method: "PUT", json: state, key: null });
    await mock.settled();
    for (const [path, status] of [
      [`/v1/tasks/${task}`, "succeeded"],
      [`/v1/imports/${job}`, "completed"],
      [`/v1/exports/${zip}`, "completed"],
    ] as const) {
      expect((await send(path)).body).toMatchObject({ status, finished_at: iso(later) });
    }
    expect(received.map(({ body }) => body.type).sort()).toEqual([...types].sort());
    expect(received.map((one) => signedAt(one, secret))).toEqual([later, later, later]);
    expect(received.map(({ body }) => body.created_at)).toEqual(Array(3).fill(iso(later)));
    expect(mock.deliveries()).toMatchObject(
      Array(3).fill({ attempts: [{ at: iso(later) }], next_attempt_at: iso(later + minute) }),
    );
  });

  test("have events with a current signature when a mock starts on the system clock", async () => {
    const { received, url } = await startReceiver(500);
    const { state, secret } = await stateWithJobs(url, new MovableClock());
    const before = Date.now();
    const { mock } = await startWorld({ state: dayBefore(state), clock: new MovableClock() });
    await mock.settled();
    expect(received).toHaveLength(3);
    for (const one of received) {
      expect(signedAt(one, secret)).toBeGreaterThan(before - 1_000);
      expect(Math.abs(Date.parse(one.body.created_at) - before)).toBeLessThan(minute);
    }
    // The second attempt is in a minute, not overdue.
    await realWait(50);
    expect(received).toHaveLength(3);
    for (const { next_attempt_at } of mock.deliveries()) {
      expect(Date.parse(next_attempt_at!)).toBeGreaterThanOrEqual(before + minute);
    }
  });
});
