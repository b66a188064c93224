import fc from "fast-check";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

type World = Awaited<ReturnType<typeof generateWorld>>;

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

/** A command on a file, or on the rejected images of all reviews so far. */
type Command = { looks: readonly string[]; flag: string } | "rerun";

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ looks: someLooks, flag: fc.constantFrom("", "--missing ") }) },
  { weight: 1, arbitrary: fc.constant("rerun" as const) },
);

/** Commands at the same moment, the images that were rejected before, and how many seconds pass until the next ones. */
const step = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 2 }),
  rejects: fc.array(fc.nat(5), { maxLength: 2 }),
  trouble,
  waits: fc.boolean(),
  seconds: fc.constantFrom(0, 3, 60),
});

test("no sequence of commands and reviews, stopped in any way, pays for a look twice, and the last ones complete it", {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
      const world = await generateWorld();
      const rejected = new Set<string>();
      for (const { commands, rejects, trouble, waits, seconds } of steps) {
        await reject(world, rejects, rejected);
        if (trouble !== null) await world.fault({ match: { method: "POST", path: "/v1/tasks" }, ...trouble });
        const lines = commands.flatMap((command) => toLine(world, command, rejected));
        await Promise.all(lines.map((line) => world.cat(`${line} --yes${waits ? "" : " --no-wait"}`)));
        await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
        world.clock.advance(seconds * 1000);
        expect(doubled(world, rejected)).toEqual([]);
      }
      // What a cut request may have queued is free again after a day; the service then shows whether it was.
      world.clock.advance(25 * 3_600_000);
      world.looks(...allLooks);
      // The tasks of a request without a response are found by their products: the first command may take others for them.
      await world.cat("tryon looks.csv --missing --yes --unknown not-queued");
      const last = await world.cat("tryon looks.csv --missing --yes --unknown not-queued");
      expect([last.exit, last.exit === 0 ? "" : last.stderr]).toEqual([0, ""]);
      const live = world.tasks().filter(({ id }) => !rejected.has(id));
      expect([doubled(world, rejected), live.length]).toEqual([[], allLooks.length]);
    }),
    { numRuns: repetitions(4, 60) },
  );
});

longTest("a dry run has the sums and the exit status of the run after it", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
      const world = await generateWorld();
      const rejected = new Set<string>();
      for (const { commands, rejects, waits, seconds } of steps) {
        await reject(world, rejects, rejected);
        for (const line of commands.flatMap((command) => toLine(world, command, rejected))) {
          const dry = await world.cat(`${line} --dry-run --json`);
          const ran = await world.cat(`${line} --yes --json${waits ? "" : " --no-wait"}`);
          expect([line, dry.exit]).toEqual([line, ran.exit]);
          if (dry.exit !== 0) continue;
          const { generations, unchanged } = JSON.parse(dry.stdout);
          expect(summaryOf(ran.stdout)).toMatchObject({ queued: generations, unchanged });
        }
        world.clock.advance(seconds * 1000);
      }
    }),
    { numRuns: 60 },
  );
});

/** Rejects some images that exist, and records a review of all images. */
async function reject(world: World, places: readonly number[], rejected: Set<string>): Promise<void> {
  const made = world.tasks().filter(({ status, id }) => status === "succeeded" && !rejected.has(id));
  for (const place of places) if (made[place] !== undefined) rejected.add(made[place].id);
  const rows = world.tasks().map(({ id, product_id, scene }) => {
    const decision = rejected.has(id) ? "reject" : "";
    return `${id},${product_id},${scene.person!.id},${scene.background},${scene.angle_shot},${decision}\n`;
  });
  if (rejected.size === 0) return;
  const header = "task_id,product_id,model_id,background,angle_shot,decision\n";
  world.write("decisions.csv", header + rows.join(""));
  expect(await world.cat("tasks review decisions.csv")).toMatchObject({ exit: 0 });
}

/** The command line; one look always gives the same file, so that it resumes its run. */
function toLine(world: World, command: Command, rejected: ReadonlySet<string>): string[] {
  if (command === "rerun") return rejected.size === 0 ? [] : ["tryon --rerun decisions.csv"];
  const { looks, flag } = command;
  const name = `${looks.map((look) => allLooks.indexOf(look)).join("-")}.csv`;
  world.write(name, `product_reference,model_id,background,angle_shot\n${looks.join("\n")}\n`);
  return [`tryon ${name} ${flag}`.trim()];
}

/** The looks that have more than one task which is not rejected. */
function doubled({ tasks }: Pick<World, "tasks">, rejected: ReadonlySet<string>): string[] {
  const seen = new Map<string, number>();
  for (const { id, product_id, scene } of tasks()) {
    const key = `${product_id} ${scene.background}`;
    if (!rejected.has(id)) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, count]) => count > 1).map(([key]) => key);
}
