import fc from "fast-check";
import { expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { generateWorld } from "./generate-world.ts";

/** The looks that files ask for. */
const allLooks = ["DRESS-1", "DRESS-2", "DRESS-3"].flatMap((product) =>
  ["studio", "beach"].map((background) => `${product},Amara,${background},full-front`),
);

const someLooks = fc.subarray(allLooks, { minLength: 1 });

/** What happens to the requests of a command: nothing, or something that stops it. */
const trouble = fc.constantFrom(
  null,
  { drop: "before", times: 40 },
  { drop: "after", times: 40 },
  { drop: "after", times: 1 },
  { status: 500, times: 40 },
  { status: 402, times: 1 },
);

/** A command on some looks, and how many seconds pass until the next one. */
const command = fc.record({
  looks: someLooks,
  trouble,
  waits: fc.boolean(),
  seconds: fc.constantFrom(0, 3, 60),
});

test("no sequence of --missing, stopped in any way, pays for an image twice, and the last ones complete it", {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 2, maxLength: 5 }), async (commands) => {
      const world = await generateWorld();
      for (const { looks, trouble, waits, seconds } of commands) {
        // One look always gives the same file, so that it resumes its run.
        world.looks(...looks);
        if (trouble !== null) await world.fault({ match: { method: "POST", path: "/v1/tasks" }, ...trouble });
        await world.cat(`tryon looks.csv --missing --yes${waits ? "" : " --no-wait"}`);
        await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
        world.clock.advance(seconds * 1000);
        expect(doubled(world)).toEqual([]);
      }
      // What a cut request may have queued is free again after a day; the service then shows whether it was.
      world.clock.advance(25 * 3_600_000);
      world.looks(...allLooks);
      // The tasks of a request without a response are found by their products: the first command may take others for them.
      await world.cat("tryon looks.csv --missing --yes --unknown not-queued");
      const last = await world.cat("tryon looks.csv --missing --yes --unknown not-queued");
      expect([last.exit, last.exit === 0 ? "" : last.stderr]).toEqual([0, ""]);
      expect([doubled(world), world.tasks().length]).toEqual([[], allLooks.length]);
    }),
    { numRuns: repetitions(3, 50) },
  );
});

/** The looks that have more than one task. */
function doubled({ tasks }: Pick<Awaited<ReturnType<typeof generateWorld>>, "tasks">): string[] {
  const seen = new Map<string, number>();
  for (const { product_id, scene } of tasks()) {
    const key = `${product_id} ${scene.background}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, count]) => count > 1).map(([key]) => key);
}
