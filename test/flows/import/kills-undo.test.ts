import { expect, test } from "vitest";
import type { UndoSummary } from "../../../src/flows/import/undo/undo.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import {
  type Command,
  columns,
  type KillsWorld,
  killedAt,
  killsWorld,
  neverKilled,
  newMachine,
} from "./kills-world.ts";

const first = [columns, "A,Dress,a.png,b.png", "B,Hat,c.png,"];
/** Photos are replaced, moved and added, a name is changed, and a product created. */
const next = [columns, "A,Gown,b.png,n.png", "B,Hat,c.png,m.png", "N,New,m.png,"];

/** Undoes an import. */
const undoOf =
  (world: KillsWorld, { machine, target }: { machine: string; target: string }): Command =>
  async (by) => {
    const { exit, stdout, stderr } = await world.run(
      ["imports", "undo", target, "--yes", "--json", "--concurrency", "2"],
      { machine, ...by },
    );
    if (stdout === "" || ![0, 8].includes(exit)) throw new Error(stderr);
    return JSON.parse(stdout) as UndoSummary;
  };

/** The products with the IDs and sides of their images. */
const exactly = (world: KillsWorld): unknown[] =>
  world
    .live()
    .map(({ id, name, photos }) => [
      id,
      name,
      ...photos.map(({ id: image, side }) => `${image} ${side}`).sort(),
    ])
    .sort();

/** A service before and after an import, and the import's run. */
async function imported(world: KillsWorld) {
  world.mock.reset();
  const by = { machine: newMachine() };
  await world.write("a.csv", ...first);
  await world.import("a.csv", {}, by);
  const before = exactly(world);
  await world.write("a.csv", ...next);
  const { runId: target } = await world.import("a.csv", {}, by);
  expect(world.shown()).toEqual(["A Gown back:n front:b", "B Hat back:m front:c", "N New front:m"]);
  return { ...by, target, before };
}

test("an undo that is killed at any step ends as one that is not", { timeout: 600_000 }, async () => {
  const world = await killsWorld();
  const whole = await imported(world);
  const { steps } = await killedAt(neverKilled, world, undoOf(world, whole));
  expect(exactly(world)).toEqual(whole.before);
  const stride = repetitions(steps, 2);
  for (let step = 5 % stride; step < steps; step += stride) {
    const run = await imported(world);
    const { before } = run;
    expect(await killedAt(step, world, undoOf(world, run))).toMatchObject({ isKilled: true });
    const isUndone = JSON.stringify(exactly(world)) === JSON.stringify(before);
    await undoOf(world, run)().catch((error: unknown) => {
      // All was done, and only the end of the run was lost.
      if (!isUndone) throw error;
    });
    expect([step, exactly(world)]).toEqual([step, before]);
  }
});

longTest("an image that the service has cleaned up before the undo is kept, and named", async () => {
  const world = await killsWorld();
  const run = await imported(world);
  // Its photos in the order of their IDs, which they get as they are uploaded.
  const own = String((run.before as string[][]).find(([, name]) => name === "Dress")!.slice(2));
  const snapshot = world.mock.state();
  const { main } = snapshot.organizations;
  const attached = main.products.flatMap(({ images }) => images.map(({ id }) => id));
  const cleaned = main.images.map(({ id }) => id).filter((id) => !attached.includes(id));
  const gone = cleaned.find((id) => own.includes(id))!;
  expect(gone).toBeDefined();
  Object.assign(main, { images: main.images.filter(({ id }) => !cleaned.includes(id)) });
  await world.putBack(snapshot);
  const summary = (await undoOf(world, run)()) as UndoSummary;
  expect(summary).toMatchObject({ undone: 2, kept: 1, failed: 0 });
  expect(summary.products).toMatchObject([
    { reference: "A", result: "kept", reasons: [`the service no longer has its photo ${gone}`] },
  ]);
  // What replaced it stays.
  expect(world.shown()).toEqual(["A Dress back:b back:n", "B Hat front:c"]);
});
