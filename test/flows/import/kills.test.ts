import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { json } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { isLong, sampled } from "../../support/repetitions.ts";
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
import type { By, ImportFlags } from "./run-import.ts";

/** A sheet that was imported, its next version, and what the service has after it. */
interface Story {
  readonly first: readonly string[];
  /** The lines of the next version. */
  readonly next: (world: KillsWorld) => readonly string[];
  readonly flags?: ImportFlags;
  /** The next version is imported on a machine that has imported nothing. */
  readonly elsewhere?: boolean;
  readonly end: readonly string[];
}

const hat = "B,Hat,c.png,";
const hatAtService = "B Hat front:c";

const stories: Record<string, Story> = {
  "a new product": {
    first: [hat],
    next: () => [columns, hat, "A,Dress,a.png,b.png"],
    end: ["A Dress back:b front:a", hatAtService],
  },
  "a replaced photo": {
    first: ["A,Dress,a.png,b.png", hat],
    next: () => [columns, "A,Dress,n.png,b.png", hat],
    end: ["A Dress back:b front:n", hatAtService],
  },
  "two replaced photos and a name": {
    first: ["A,Dress,a.png,b.png", hat],
    next: () => [columns, "A,Gown,n.png,m.png", hat],
    end: ["A Gown back:m front:n", hatAtService],
  },
  "photos that change sides": {
    first: ["A,Dress,a.png,b.png", hat],
    next: () => [columns, "A,Dress,b.png,a.png", hat],
    end: ["A Dress back:a front:b", hatAtService],
  },
  "a photo that moves to the side of a replaced one": {
    first: ["A,Dress,a.png,b.png", hat],
    next: () => [columns, "A,Gown,b.png,n.png", hat],
    end: ["A Gown back:n front:b", hatAtService],
  },
  "a photo that is removed from an exported sheet": {
    first: ["A,Dress,a.png,b.png", hat],
    next: (world) => [
      `${columns},as_exported`,
      world.exported("A", ([reference, , front]) => [reference!, "Gown", front!, ""]),
      world.exported("B"),
    ],
    end: ["A Gown front:a", hatAtService],
  },
  "photos that are adopted on another machine, next to a new one": {
    first: ["A,Dress,a.png,", hat],
    next: () => [columns, "A,Dress,a.png,n.png", hat],
    elsewhere: true,
    end: ["A Dress back:n front:a", hatAtService],
  },
  "a sheet that is the truth, on another machine": {
    first: ["A,Dress,a.png,b.png", hat],
    next: () => [columns, "A,Gown,b.png,n.png", hat],
    flags: { exact: true },
    elsewhere: true,
    end: ["A Gown back:n front:b", hatAtService],
  },
};

/** Brings the service and the machines to where the next version is imported. */
async function prepared(world: KillsWorld, story: Story) {
  world.mock.reset();
  await world.fault();
  const first = newMachine();
  await world.write("a.csv", columns, ...story.first);
  await importOf(world, "a.csv", {}, { machine: first })();
  await world.write("a.csv", ...story.next(world));
  const isElsewhere = story.elsewhere === true;
  const by = isElsewhere ? { machine: newMachine(), key: "ak_new_two" } : { machine: first };
  const flags = { ...story.flags, ...(isElsewhere && { sameOrganization: true }) };
  return { machine: by.machine, command: importOf(world, "a.csv", flags, by) };
}

/** What happens besides the kill. */
interface Disturbed {
  readonly faults?: (world: KillsWorld) => Promise<unknown>;
  /** Another client writes between the kill and the next start. */
  readonly meanwhile?: (world: KillsWorld) => Promise<unknown>;
}

const patience = { timeout: 600_000 };

/** Imports the next version with kills at a step; another client may write before it is imported again. */
async function afterKill(world: KillsWorld, story: Story, at: number, { faults, meanwhile }: Disturbed = {}) {
  const { machine, command } = await prepared(world, story);
  await faults?.(world);
  const { isKilled, steps } = await killedAt(at, world, command);
  const isOnItsWay = await hasBatchOnItsWay(world, machine);
  await meanwhile?.(world);
  const last = await ended(world, command);
  return { isKilled, steps, isOnItsWay, ...last };
}

/** Whether a batch was recorded whose import has not ended: the service may write what others wrote before or after. */
async function hasBatchOnItsWay({ mock, stateOf }: KillsWorld, machine: string): Promise<boolean> {
  const { imports } = mock.state().organizations.main;
  const isPending = imports.some(({ rows }) => rows.some(({ result }) => result.status === "pending"));
  const { runs, batches } = await stateOf(machine);
  return (
    isPending || runs.ofKind("import").some(({ id }) => batches.of(id).some(({ state }) => state === "sent"))
  );
}

/** Runs a command to its end, and once more; returns the products after the first, and the writes of the second. */
async function ended(world: KillsWorld, command: Command) {
  const ran = await command();
  await world.fault();
  const shown = world.shown();
  const writes = world.writes().length;
  await command();
  return { ran, shown, writtenAgain: world.writes().slice(writes) };
}

/** The steps at which a process is killed: each sixteenth, or one of them in a short run. */
function* stepsOf(total: number, offset: number): Generator<number> {
  if (isLong) for (let step = offset % 16; step < total; step += 16) yield step;
  // Most of the last third of the steps are those that write.
  else yield Math.floor(total * (0.55 + (offset % 5) * 0.08));
}

/** Kills an import at many steps; returns what was wrong with the ends. */
async function wrongEnds(
  world: KillsWorld,
  story: Story,
  {
    disturbed = {},
    ends,
  }: { disturbed?: Disturbed; ends: (shown: readonly string[], isOnItsWay: boolean) => boolean },
): Promise<unknown[]> {
  const wrong: unknown[] = [];
  const whole = await afterKill(world, story, neverKilled);
  if (!isDeepStrictEqual([whole.shown, whole.writtenAgain], [story.end, []])) wrong.push(whole);
  for (const step of stepsOf(whole.steps, offset++)) {
    const { ran: _, ...found } = await afterKill(world, story, step, disturbed);
    if (!ends(found.shown, found.isOnItsWay) || found.writtenAgain.length > 0) wrong.push({ step, ...found });
  }
  return wrong;
}

let offset = 7;

describe.each(sampled(Object.entries(stories)))("%s", (_title, story) => {
  const { end } = story;

  test("is the same after a kill at any step", patience, async () => {
    const world = await killsWorld();
    expect(await wrongEnds(world, story, { ends: (shown) => isDeepStrictEqual(shown, end) })).toEqual([]);
  });

  longTest("is the same after faults and a kill at any step", patience, async () => {
    const world = await killsWorld();
    let turn = 0;
    const faults = (on: KillsWorld) => on.fault(anyFault[turn++ % anyFault.length]!);
    const ends = (shown: readonly string[]) => isDeepStrictEqual(shown, end);
    expect(await wrongEnds(world, story, { disturbed: { faults }, ends })).toEqual([]);
  });
});

/** Each ends within the automatic attempts. */
const anyFault: readonly FaultOrder[] = [
  { match: { path: "/v1/" }, status: 429, times: 2 },
  { match: { path: "/v1/" }, status: 503, times: 2 },
  { match: { method: "POST", path: "/v1/imports" }, drop: "after", times: 1 },
  { match: { method: "DELETE", path: "/v1/products" }, drop: "after", times: 2 },
  { match: { method: "POST", path: "/v1/products" }, drop: "after", times: 2 },
  { match: { method: "POST", path: "/v1/products" }, drop: "before", times: 2 },
];

/** Stories of a machine that knows what its sheet said before. */
const known = Object.entries(stories).filter(
  ([, { elsewhere, flags, first }]) => elsewhere !== true && flags === undefined && first.length > 1,
);

test.each(sampled(known, 1))(
  "%s: the name that another client gives after a kill stays",
  patience,
  async (_, story) => {
    const world = await killsWorld();
    const meanwhile = (on: KillsWorld) => on.byOthers("A", { name: "Theirs" });
    const photos = story.end[0]!.split(" ").slice(2);
    const ends = ([first, second]: readonly string[], isOnItsWay: boolean) => {
      const [, name, ...own] = first!.split(" ");
      const contents = own.map((one) => one.split(":")[1]);
      return (
        (name === "Theirs" || isOnItsWay) &&
        second === hatAtService &&
        new Set(contents).size === contents.length &&
        // As a conflict, or with the photos of the sheet.
        (story.first[0]!.includes(contents[0]!) || isDeepStrictEqual(own, photos))
      );
    };
    expect(await wrongEnds(world, story, { disturbed: { meanwhile }, ends })).toEqual([]);
  },
);

test("a photo is not removed after a kill if another client has detached the others", patience, async () => {
  const world = await killsWorld();
  const story = stories["a photo that is removed from an exported sheet"]!;
  const meanwhile = (on: KillsWorld) => on.byOthers("A", { detach: "a" });
  // Not the last one: the row is a conflict then.
  const ends = ([first]: readonly string[]) => / (?:front:a|back:b)$/.test(first!);
  expect(await wrongEnds(world, story, { disturbed: { meanwhile }, ends })).toEqual([]);
});

test("a service that ignores a new side is asked once a run, and the row says so", async () => {
  const world = await killsWorld();
  const story = stories["photos that change sides"]!;
  const { machine } = await prepared(world, story);
  const ignoring: By = {
    machine,
    judge: ({ method, path }) =>
      method === "POST" && /^\/v1\/products\/\w+\/images$/.test(path) ? json(201, []) : null,
  };
  for (const _ of ["first", "second"]) {
    const { summary } = await world.import("a.csv", {}, ignoring);
    expect(summary).toMatchObject({ failed: 1, unchanged: 1, photos: { moved: 0 } });
    expect(await world.failed()).toContain(",not_relabeled,");
  }
  expect(world.shown()).toEqual(["A Dress back:b front:a", hatAtService]);
  const { summary } = await world.import("a.csv", {}, { machine });
  expect(summary).toMatchObject({ updated: 1, photos: { moved: 2 } });
  expect(world.shown()).toEqual(story.end);
});
