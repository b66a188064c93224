import { expect, onTestFinished, test } from "vitest";
import { type UndoSummary, undoImport } from "../../../src/flows/import/undo/undo.ts";
import type { State } from "../../../src/state/state.ts";
import { repetitions } from "../../support/repetitions.ts";
import {
  type Command,
  columns,
  importOf,
  type KillsWorld,
  killedAt,
  killsWorld,
  neverKilled,
  newMachine,
} from "./kills-world.ts";

const first = [columns, "A,Dress,a.png,b.png", "B,Hat,c.png,"];
/** Photos are replaced, moved and added, a name is changed, and a product created. */
const next = [columns, "A,Gown,b.png,n.png", "B,Hat,c.png,m.png", "N,New,m.png,"];

let keys = 0;

/** Undoes the last import. */
const undoOf =
  (world: KillsWorld, target: string): Command =>
  async (state, through) => {
    const { summary, stopped } = await undoImport(
      { target, only: null, withGenerations: false, isPlan: false, concurrency: 2 },
      {
        clock: world.clock,
        newKey: () => `undo-key-${++keys}`,
        pid: 4711,
        runId: `undo_${++keys}`,
        client: async () => through(world.client),
        memory: async () => ({
          ...{ state, sentJobs: state.sentJobs },
          service: { baseUrl: world.mock.baseUrl, keyFingerprint: "fingerprint" },
        }),
        onNote: () => {},
        onProgress: () => {},
        confirm: async () => {},
      },
    );
    if (stopped instanceof Error) throw stopped;
    return summary;
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
async function imported(world: KillsWorld): Promise<{ state: State; target: string; before: unknown[] }> {
  world.mock.reset();
  const state = await newMachine(world);
  onTestFinished(() => state.close());
  await world.write("a.csv", ...first);
  await importOf(world, "a.csv")(state, (same) => same);
  const before = exactly(world);
  const known = new Set(state.runs.ofKind("import").map(({ id }) => id));
  await world.write("a.csv", ...next);
  await importOf(world, "a.csv")(state, (same) => same);
  expect(world.shown()).toEqual(["A Gown back:n front:b", "B Hat back:m front:c", "N New front:m"]);
  const target = state.runs.ofKind("import").find(({ id }) => !known.has(id))!.id;
  return { state, target, before };
}

test("an undo that is killed at any step ends as one that is not", { timeout: 600_000 }, async () => {
  const world = await killsWorld();
  const whole = await imported(world);
  const { steps } = await killedAt(neverKilled, whole.state, undoOf(world, whole.target));
  expect(exactly(world)).toEqual(whole.before);
  const stride = repetitions(Math.ceil(steps / 3), 2);
  for (let step = 5 % stride; step < steps; step += stride) {
    const { state, target, before } = await imported(world);
    expect(await killedAt(step, state, undoOf(world, target))).toMatchObject({ isKilled: true });
    const isUndone = JSON.stringify(exactly(world)) === JSON.stringify(before);
    await undoOf(world, target)(state, (same) => same).catch((error: unknown) => {
      // All was done, and only the end of the run was lost.
      if (!isUndone) throw error;
    });
    expect([step, exactly(world)]).toEqual([step, before]);
  }
});

test("an image that the service has cleaned up before the undo is kept, and named", async () => {
  const world = await killsWorld();
  const { state, target, before } = await imported(world);
  // Its photos in the order of their IDs, which they get as they are uploaded.
  const own = String((before as string[][]).find(([, name]) => name === "Dress")!.slice(2));
  const snapshot = world.mock.state();
  const { main } = snapshot.organizations;
  const attached = main.products.flatMap(({ images }) => images.map(({ id }) => id));
  const cleaned = main.images.map(({ id }) => id).filter((id) => !attached.includes(id));
  const gone = cleaned.find((id) => own.includes(id))!;
  expect(gone).toBeDefined();
  Object.assign(main, { images: main.images.filter(({ id }) => !cleaned.includes(id)) });
  await world.putBack(snapshot);
  const summary = (await undoOf(world, target)(state, (same) => same)) as UndoSummary;
  expect(summary).toMatchObject({ undone: 2, kept: 1, failed: 0 });
  expect(summary.products).toMatchObject([
    { reference: "A", result: "kept", reasons: [`the service no longer has its photo ${gone}`] },
  ]);
  // What replaced it stays.
  expect(world.shown()).toEqual(["A Dress back:b back:n", "B Hat front:c"]);
});
