import fc from "fast-check";
import { expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { startReceiver } from "../receiver.ts";
import { row, startWorld } from "../world.ts";

const minute = 60_000;
const hour = 60 * minute;
const waits = [minute, 5 * minute, 15 * minute, hour, 6 * hour];
const ascending = (a: number, b: number) => a - b;
/** Duration of an import of one row. */
const importMs = 1_010;

type Step =
  | { readonly event: readonly boolean[] }
  | { readonly advance: number }
  | { readonly status: Status };
type Status = "active" | "paused" | "disabled";

/**
 * The expected deliveries of one webhook, from the specification (Events, Retries) and the interface
 * (disabling).
 */
class Model {
  now = 0;
  status: Status = "active";
  abandoned = 0;
  attempts: [event: number, at: number][] = [];
  pending: { event: number; tries: number; made: number; due: number; answers: readonly boolean[] }[] = [];
  events = 0;

  announce(answers: readonly boolean[]): void {
    const event = this.events++;
    this.advance(importMs - 1);
    if (this.status === "active") this.pending.push({ event, tries: 0, made: 0, due: this.now + 1, answers });
    this.advance(1);
  }

  set(status: Status): void {
    if (this.status === "disabled") this.abandoned = 0;
    this.status = status;
  }

  advance(ms: number): void {
    const target = this.now + ms;
    for (;;) {
      const [next] = this.pending.sort((a, b) => a.due - b.due);
      if (next === undefined || next.due > target) break;
      this.attempt(next);
    }
    this.now = target;
  }

  attempt(delivery: Model["pending"][number]): void {
    const drop = () => {
      this.pending = this.pending.filter((other) => other !== delivery);
    };
    const isMade = this.status === "active";
    if (isMade) this.attempts.push([delivery.event, delivery.due]);
    if (isMade && delivery.answers[delivery.made++] === true) {
      this.abandoned = 0;
      drop();
      return;
    }
    const wait = waits[delivery.tries++];
    if (wait !== undefined) {
      delivery.due += wait;
      return;
    }
    drop();
    if (!isMade || ++this.abandoned < 5) return;
    this.status = "disabled";
    this.pending = [];
  }
}

const answers = fc.oneof(
  { weight: 3, arbitrary: fc.constant([] as boolean[]) },
  { weight: 2, arbitrary: fc.array(fc.boolean(), { maxLength: 6 }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: answers.map((event) => ({ event })) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 9 * hour }).map((advance) => ({ advance })) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 7 * minute }).map((advance) => ({ advance })) },
  { weight: 1, arbitrary: fc.constantFrom<Status>("paused", "active").map((status) => ({ status })) },
);

test("attempts follow the schedule, whatever handlers respond and however the clock moves", async () => {
  const script = new Map<string, readonly boolean[]>();
  const tries = new Map<string, number>();
  const receiver = await startReceiver((response) => {
    const id: string = receiver.received.at(-1)!.body.data.import.id;
    const attempt = tries.get(id) ?? 0;
    tries.set(id, attempt + 1);
    response.writeHead(script.get(id)?.[attempt] === true ? 200 : 503).end();
  });
  const { send, mock, clock, importRows } = await startWorld();
  const advance = (ms: number) => send("/_mock/clock", { json: { advance_ms: ms }, key: null });
  let disabled = 0;

  const run = async (steps: readonly Step[]) => {
    mock.reset();
    const json = { url: receiver.url, events: ["import.completed"] };
    const path = `/v1/webhooks/${(await send("/v1/webhooks", { json })).body.id}`;
    const start = clock.now();
    const model = new Model();
    const events: string[] = [];
    // The last step finishes everything.
    for (const one of [...steps, { advance: 8 * hour }]) {
      if ("event" in one) {
        const { id } = (await importRows([row("A")])).body;
        script.set(id, one.event);
        tries.delete(id);
        events.push(id);
        await advance(importMs);
        model.announce(one.event);
      } else if ("advance" in one) {
        await advance(one.advance);
        model.advance(one.advance);
      } else {
        await send(path, { method: "PATCH", json: { status: one.status } });
        model.set(one.status);
      }
      const attempts = mock.deliveries().flatMap(({ event, attempts }) => {
        const index = events.indexOf(event.data.import!.id);
        return attempts.map(({ at }) => [index, Date.parse(at) - start] as [number, number]);
      });
      const inOrder = (list: [number, number][]) => [...list].sort((a, b) => a[1] - b[1] || a[0] - b[0]);
      expect(inOrder(attempts)).toEqual(inOrder(model.attempts));
      expect((await send(path)).body.status).toBe(model.status);
      const due = mock.deliveries().flatMap(({ next_attempt_at }) => next_attempt_at ?? []);
      expect(due.map((at) => Date.parse(at) - start).sort(ascending)).toEqual(
        model.pending.map((delivery) => delivery.due).sort(ascending),
      );
    }
    if (model.status === "disabled") disabled++;
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 14 }), run), {
    numRuns: repetitions(4, 600),
  });
  // The random cases must include events that are never accepted, and events accepted before the fifth
  // attempt.
  const never = Array.from({ length: 5 }, () => ({ event: [] }));
  await run(never);
  await run([...never.slice(1), { advance: 8 * hour }, { event: [true] }, ...never.slice(1)]);
  expect(disabled).toBeGreaterThan(0);
});
