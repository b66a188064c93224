import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { TestClock } from "../../support/test-clock.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";
import { exportWorld, idsOf } from "../export/export-world.ts";
import { syncWorld } from "../export/sync-world.ts";
import { generateWorld, summaryOf } from "../generate/generate-world.ts";
import { serviceInFront } from "./service-in-front.ts";

const minute = 60_000;
const hour = 60 * minute;
const in2050 = Date.parse("2050-01-01T00:00:00Z") - Date.parse("2026-01-05T09:00:00Z");
const skews: readonly (readonly [string, number])[] = [
  ["10 minutes ahead", 10 * minute],
  ...repetitions<[string, number][]>([], [["in the year 2050", in2050]]),
];

/** A scenario whose service is behind a gateway that sets `Date`. */
async function skewed<World extends TestWorld>(world: World) {
  const front = await serviceInFront(world.mock.baseUrl);
  const env = { CAT_BASE_URL: front.origin };
  /** Runs a command while the `Date` of the service, and the clock of this machine, are so far ahead. */
  const at = (line: string, date: number | null, machine = 0) => {
    front.change = ({ headers }) => {
      delete headers.date;
      if (date !== null) headers.date = new Date(world.clock.now() + date).toUTCString();
    };
    const clock = machine === 0 ? world.clock : new TestClock({ frozenAt: world.clock.now() + machine });
    return world.cat(line, { env, context: { clock } });
  };
  const send = async (method: string, path: string, body?: object) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(`${world.mock.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${world.mock.apiKey}`, "content-type": type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  };
  const tick = (ms: number) => world.clock.advance(ms);
  return {
    ...world,
    at,
    tick,
    rename: (id: string, name = "Renamed") => send("PATCH", `/v1/products/${id}`, { name }),
    remove: (id: string) => send("DELETE", `/v1/products/${id}`),
  };
}

const future = (time: string) =>
  `The last run stored the time ${time}, which is in the future: a clock is or was wrong. Reading everything again.\n`;

describe("export --since last", () => {
  test.for(skews)("misses no change after a run whose Date was %s", async ([, ahead]) => {
    const world = await skewed(await exportWorld({ demo: 3 }));
    world.tick(hour);
    const [oldest] = world.products();
    await world.at("export --since last", ahead);
    world.tick(minute);
    await world.rename(oldest!.id);
    world.tick(20 * minute);
    const next = await world.at("export --since last", 0);
    expect(idsOf(next.stdout)).toEqual([oldest!.id]);
    expect(next.stderr).not.toContain("future");
  });

  test.for([
    ["when both are right again", 0, 0],
    ["when only Date is right again", 0, in2050],
    ["when only the clock of the machine is right again", in2050, 0],
  ] as const)(
    "exports everything after a run whose clocks both were in 2050, %s",
    async ([, date, machine]) => {
      const world = await skewed(await exportWorld({ demo: 3 }));
      world.tick(hour);
      await world.at("export --since last", in2050, in2050);
      world.tick(hour);
      const all = world.newestFirst();
      const next = await world.at("export --since last", date, machine);
      expect(idsOf(next.stdout)).toEqual(all);
      expect(next.stderr).toContain(future("2050-01-01T01:00:00.000Z"));
      await world.rename(all[1]!);
      world.tick(hour);
      const last = await world.at("export --since last", 0);
      expect(last.stderr).not.toContain("future");
      expect(idsOf(last.stdout)).toEqual([all[1]!]);
    },
  );

  test("exports everything after a future time, also if the first try was stopped", async () => {
    const world = await skewed(await exportWorld({ demo: 3 }));
    await world.at("export --since last", 30 * minute, 30 * minute);
    world.tick(minute);
    await world.fault({ match: { path: "/v1/exports" }, status: 400, times: 1 });
    const stopped = await world.at("export --since last", 0);
    expect([stopped.exit, stopped.stderr]).toEqual([3, expect.stringContaining("in the future")]);
    world.tick(hour);
    const next = await world.at("export --since last", 0);
    expect(idsOf(next.stdout)).toEqual(world.newestFirst());
  });

  test("reports every change at least once, whatever Date says in each run", async () => {
    const skew = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -2 * hour, max: 2 * hour }),
      fc.constantFrom(in2050, -20 * 365 * 24 * hour),
    );
    const run = fc.record({
      date: skew,
      changed: fc.integer({ min: 0, max: 2 }),
      before: fc.integer({ min: 0, max: 30 * minute }),
      after: fc.integer({ min: 0, max: 30 * minute }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 2, maxLength: 5 }), async (runs) => {
        const world = await skewed(await exportWorld({ demo: 3 }));
        const products = world.products();
        const copy = new Map<string, string>();
        const read = async (date: number) => {
          const { stdout } = await world.at("export --since last", date);
          for (const line of stdout.split("\n").filter((text) => text !== "")) {
            const { product } = JSON.parse(line);
            copy.set(product.id, product.name);
          }
        };
        for (const [at, { date, changed, before, after }] of runs.entries()) {
          await read(date);
          world.tick(before);
          await world.rename(products[changed]!.id, `Name ${at}`);
          world.tick(after);
        }
        await read(0);
        expect(copy).toEqual(new Map(world.products().map(({ id, name }) => [id, name])));
      }),
      { numRuns: repetitions(2, 100) },
    );
  });
});

describe("export sync", () => {
  longTest.for(skews)("misses no change after a run whose Date was %s", async ([, ahead]) => {
    const world = await skewed(await syncWorld());
    await world.at("export sync images", ahead);
    world.tick(minute);
    await world.add("DRESS-9", ["front"]);
    world.tick(20 * minute);
    const next = await world.at("export sync images", 0);
    expect(next.stderr).toMatch(/^Mirrored 7 images in images in 0\.0 s: 1 added/);
  });

  test("reads everything after a run whose clocks both were ahead, also if the first try was stopped", async () => {
    const world = await skewed(await syncWorld());
    await world.at("export sync images", 30 * minute, 30 * minute);
    await world.add("DRESS-9", ["front"]);
    world.tick(minute);
    const note = future("2026-01-05T09:40:05.000Z");
    const dry = await world.at("export sync images --dry-run", 0);
    expect(dry.stderr).toContain(note);
    await world.fault({ match: { path: "/v1/exports" }, status: 400, times: 1 });
    const stopped = await world.at("export sync images", 0);
    expect([stopped.exit, stopped.stderr]).toEqual([3, expect.stringContaining(note)]);
    world.tick(hour);
    const next = await world.at("export sync images", 0);
    expect(next.stderr).toMatch(/^Mirrored 7 images in images in 0\.0 s: 1 added/);
  });
});

describe("import", () => {
  // Of fewer rows each product is read, whatever the time.
  const rows = Array.from({ length: 101 }, (_, at) => `A-${at},Dress,https://cdn.example.com/${at}.jpg\n`);
  const file = `reference,name,images\n${rows.join("")}`;

  test.for(skews)("finds products deleted after a run whose Date was %s", async ([, ahead]) => {
    const world = await skewed(await createWorld());
    world.write("a.csv", file);
    await world.at("import a.csv", 0);
    world.tick(hour);
    await world.at("import a.csv", ahead);
    world.tick(minute);
    await world.remove(world.products()[0]!.id);
    world.tick(20 * minute);
    const next = await world.at("import a.csv", 0);
    expect(next.stderr).toContain("1 product was deleted at the service since (A-0)");
    expect(world.products()).toHaveLength(100);
  });

  longTest("reads everything after a run whose clocks both were in 2050, and says so once", async () => {
    const world = await skewed(await createWorld());
    world.write("a.csv", file);
    await world.at("import a.csv", 0);
    world.tick(hour);
    await world.at("import a.csv", in2050, in2050);
    await world.remove(world.products()[0]!.id);
    world.tick(20 * minute);
    const next = await world.at("import a.csv", 0);
    expect(next.stderr).toMatch(
      /^The last run stored the time 2050-01-01T01:00:\d\dZ, which is in the future/,
    );
    expect(next.stderr).toContain("1 product was deleted at the service since (A-0)");
    expect((await world.at("import a.csv", 0)).stderr).not.toContain("future");
  });
});

longTest.for(skews)(
  "tryon finds the tasks of a request without a response whose Date was %s",
  async ([, ahead]) => {
    const world = await skewed(await generateWorld());
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
    expect((await world.at("tryon looks.csv --yes", ahead)).exit).toBe(7);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    expect(world.tasks()).toHaveLength(2);
    world.tick(25 * hour);
    const resumed = await world.at("tryon looks.csv --yes --json", 0);
    expect(resumed.exit).toBe(0);
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 2, succeeded: 2 });
    expect(world.tasks()).toHaveLength(2);
  },
);

test.for(
  sampled(
    [
      ["finds", "ten days behind", -240 * hour],
      ["asks about", "ten days ahead", 240 * hour],
    ] as const,
    1,
  ),
)(
  "tryon %s the tasks of a request without a response or a Date, sent by a machine that was %s",
  async ([does, , machine]) => {
    const world = await skewed(await generateWorld());
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
    expect((await world.at("tryon looks.csv --yes", null, machine)).exit).toBe(7);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    world.tick(25 * hour);
    if (does === "finds") {
      expect((await world.at("tryon looks.csv --yes", null)).exit).toBe(0);
      expect(world.tasks()).toHaveLength(2);
      return;
    }
    expect(await world.at("tryon looks.csv --yes", null)).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining("the service has 2 tasks that may be theirs\n"),
    });
    expect((await world.at("tryon looks.csv --yes --unknown queued", null)).exit).toBe(8);
    expect(world.tasks()).toHaveLength(2);
  },
);

longTest("listen --poll checks all imports of this machine if it was begun in 2050", async () => {
  const world = await skewed(await createWorld());
  world.write("a.csv", "reference,name,images\nA-1,Dress,https://cdn.example.com/1.jpg\n");
  const listen = "webhooks listen --poll --timeout 1m --count 1 --log events.ndjson";
  await world.at(listen, in2050, in2050);
  await world.at("import a.csv", 0);
  const next = await world.at(listen, 0);
  expect(next.stderr).toContain("in the future");
  expect([next.exit, world.read("events.ndjson")]).toEqual([
    0,
    expect.stringContaining('"type":"import.completed"'),
  ]);
});
