import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MirrorEntry } from "../../../../src/flows/export/sync/mirror-entry.ts";
import type { SyncOutcome } from "../../../../src/flows/export/sync/sync.ts";
import { toDigitalSource } from "../../../../src/flows/files/ai-label.ts";
import { longTest } from "../../../support/long-test.ts";
import { repetitions } from "../../../support/repetitions.ts";
import type { FakeCatalogue } from "./fake-catalogue.ts";
import type { StoredFiles } from "./memory-store.ts";
import { Killed, mirrorWorld, tree } from "./mirror-world.ts";

/** References that collide on some system, or are hostile. */
const references = [
  "A",
  "a",
  "\u00c1",
  "A\u0301",
  "\u00e1",
  "..",
  "../../etc",
  "x/y",
  "CON",
  "B.",
  "B ",
  "B",
];
const reference = fc.constantFrom(...references);
const role = fc.constantFrom("source", "tryon", "beautifier");
const number = fc.nat(1000);

/** What happens between two runs. */
const change = fc.oneof(
  fc.record({ do: fc.constant("add" as const), reference, roles: fc.array(role, { maxLength: 3 }) }),
  fc.record({ do: fc.constant("rename" as const), number, reference }),
  fc.record({ do: fc.constant("attach" as const), number, role }),
  fc.record({ do: fc.constant("edit" as const), number }),
  fc.record({ do: fc.constant("detach" as const), number }),
  fc.record({ do: fc.constant("watermark" as const), number }),
  fc.record({ do: fc.constant("delete" as const), number }),
  fc.record({ do: fc.constant("expire" as const) }),
  fc.record({ do: fc.constant("foreign" as const), number, reference }),
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

const step = fc.record({
  changes: fc.array(change, { maxLength: 5 }),
  full: fc.boolean(),
  delete: fc.boolean(),
  verify: fc.boolean(),
  /** Changes of the store until the process is killed; null if it is not. */
  killAt: fc.option(fc.integer({ min: 1, max: 40 })),
  /** Whether the downloads of every third asset fail. */
  fails: fc.boolean(),
});
const template = fc.constantFrom(
  null,
  "{reference}/{role}-{id}{ext}",
  "{role}{ext}",
  "x-{angle_shot|orientation}{ext}",
);
const roles = fc.constantFrom(null, ["tryon"]);

function apply(
  catalogue: FakeCatalogue,
  stored: StoredFiles,
  formerPaths: ReadonlySet<string>,
  one: Change,
): void {
  const alive = catalogue.products.filter(({ deletedAt }) => deletedAt === null);
  if (one.do === "add") return void catalogue.add(one.reference, one.roles);
  if (one.do === "expire") return void catalogue.expire();
  if (one.do === "foreign") {
    const name = ["source.jpg", "tryon.jpg", `${one.reference}_tryon.jpg`, "x-front.jpg"][one.number % 4]!;
    const path = name.includes("/") || name.startsWith(".") ? "notes.txt" : name;
    // Or where the mirror had a file.
    const former = [...formerPaths].filter((one) => !stored.files.has(one));
    const chosen = one.number % 8 < 4 ? path : (former[one.number % Math.max(1, former.length)] ?? path);
    if (!stored.files.has(chosen)) stored.files.set(chosen, Buffer.from("of the user"));
    return;
  }
  const product = alive[one.number % alive.length];
  if (product === undefined) return;
  if (one.do === "rename") product.reference = one.reference;
  else if (one.do === "attach") catalogue.attach(product, one.role);
  else if (one.do === "delete") {
    product.deletedAt = Date.now();
    catalogue.touch(product);
    product.deletedAt = product.changedAt;
  } else {
    const asset = product.assets[one.number % Math.max(1, product.assets.length)];
    if (asset === undefined) return;
    if (one.do === "edit") asset.edits++;
    if (one.do === "watermark") asset.watermarked = !asset.watermarked;
    if (one.do === "detach") product.assets = product.assets.filter((other) => other !== asset);
    // A delta includes neither of these two.
    if (one.do !== "edit") return;
  }
  catalogue.touch(product);
}

const scenario = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 6 }), template, roles });
type Scenario = typeof scenario extends fc.Arbitrary<infer One> ? One : never;

/** A scenario that begins with a catalogue, and in which the user puts no files into the folder. */
const labelScenario = fc.record({
  products: fc.array(fc.record({ reference, roles: fc.array(role, { minLength: 1, maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  label: fc.boolean(),
  scenario: scenario.map(({ steps, ...others }) => ({
    ...others,
    steps: steps.map((one) => ({ ...one, changes: one.changes.filter((change) => change.do !== "foreign") })),
  })),
});
type LabelScenario = typeof labelScenario extends fc.Arbitrary<infer One> ? One : never;

/** Most images of a small catalogue are gone: the next runs read everything, until `--max-delete` is typed. */
const isRefusal = (error: unknown) => (error as { code?: string }).code === "most_images_missing";

/** Each generated image has its label, of which the index tells, and no other image has one. */
function expectLabels({ files }: StoredFiles, label: boolean): void {
  for (const line of String(files.get("catalogue.ndjson")).split("\n").filter(Boolean)) {
    const { path, role, bytes, sha256, sent_sha256 } = JSON.parse(line) as MirrorEntry;
    const file = files.get(path)!;
    expect([bytes, sha256]).toEqual([file.length, hash("sha256", file)]);
    const source = /digitalsourcetype\/(\w+)/.exec(String(file))?.[1];
    expect([source, sent_sha256 !== undefined]).toEqual(
      label && role !== "source" ? [toDigitalSource(role), true] : [undefined, false],
    );
  }
}

/** Plays a scenario; returns the mirror after a last run, and a new mirror of the same catalogue. */
async function play(
  { steps, template, roles }: Scenario,
  forget = (_: StoredFiles): void => {},
  { products, label }: Omit<LabelScenario, "scenario"> = { products: [], label: true },
) {
  const { catalogue, clock, run, newMirror } = mirrorWorld();
  const stored = newMirror();
  const selection = { template, roles, label };
  for (const { reference, roles } of products) catalogue.add(reference, roles);
  /** What the user has put into the folder. */
  const formerPaths = new Set<string>();
  const foreign = () => [...stored.files].filter(([, content]) => String(content) === "of the user");
  for (const one of steps) {
    const isFirst = stored.files.size === 0;
    for (const change of one.changes)
      if (!isFirst || change.do !== "foreign") apply(catalogue, stored, formerPaths, change);
    const before = foreign();
    catalogue.failing = new Set(
      one.fails
        ? catalogue.products
            .flatMap(({ assets }) => assets.map(({ id }) => id))
            .filter((_, at) => at % 3 === 0)
        : [],
    );
    const { full, verify } = one;
    try {
      const { summary, stopped } = await run(
        stored,
        { ...selection, full, verify, delete: one.delete, ...(one.delete && { maxDelete: 1000 }) },
        { ...(one.killAt !== null && { killAt: one.killAt }) },
      );
      if (stopped !== undefined && !isRefusal(stopped)) throw stopped;
      expect(summary.unchanged).toBeGreaterThanOrEqual(0);
      expect(summary.total).toBe(
        summary.added + summary.changed + summary.renamed + summary.unchanged + summary.failed,
      );
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      stored.holder = null;
    }
    forget(stored);
    expect(foreign()).toEqual(before);
    for (const path of Object.keys(tree(stored))) if (path.endsWith(".jpg")) formerPaths.add(path);
    clock.advance(600_000);
  }
  catalogue.failing = new Set();
  const last = { ...selection, full: true, delete: true, maxDelete: 1000 };
  const ended = await run(stored, last);
  if (ended.stopped !== undefined) throw ended.stopped;
  const fresh = newMirror();
  await run(fresh, selection);
  expectLabels(fresh, label);
  const before = catalogue.downloads;
  // Whatever the images of a mirror have, neither flag downloads them again.
  const again = await run(stored, { ...last, verify: true, label: !label });
  expect(catalogue.downloads).toBe(before);
  return { mirror: tree(stored), fresh: tree(fresh), foreign: foreign().length, again: again.summary };
}

/** The sums and the error of a run. */
function ending({ summary, stopped }: SyncOutcome) {
  const { total, added, changed, renamed, removed, unchanged, failed } = summary;
  const { code } = (stopped ?? {}) as { code?: string };
  return { total, added, changed, renamed, removed, unchanged, failed, code };
}

/** What the user does to the images of a mirror before its next run. */
const damage = fc.array(fc.record({ number, do: fc.constantFrom("remove", "edit", "extend", "exchange") }), {
  maxLength: 3,
});

function applyDamage({ files }: StoredFiles, number: number, how: string): void {
  const images = [...files.keys()].filter((path) => path.endsWith(".jpg")).sort();
  const path = images[number % Math.max(1, images.length)];
  if (path === undefined) return;
  const content = files.get(path)!;
  const other = images[(number + 1) % images.length]!;
  if (how === "remove") files.delete(path);
  else if (how === "edit") files.set(path, Buffer.from(content).fill("x"));
  else if (how === "extend") files.set(path, Buffer.concat([content, Buffer.from("x")]));
  else files.set(path, files.get(other)!).set(other, content);
}

test("a dry run has the sums of the run after it, and changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.array(damage), async ({ steps, ...selection }, damages) => {
      const { catalogue, clock, run, newMirror } = mirrorWorld();
      const stored = newMirror();
      for (const [at, { changes, full, verify, delete: isDelete, killAt }] of steps.entries()) {
        for (const { number, do: how } of damages[at] ?? []) applyDamage(stored, number, how);
        const isFirst = stored.files.size === 0;
        for (const change of changes)
          if (!isFirst || change.do !== "foreign") apply(catalogue, stored, new Set(), change);
        const flags = { ...selection, full, verify, delete: isDelete, ...(isDelete && { maxDelete: 1000 }) };
        const before = new Map(stored.files);
        const planned = ending(await run(stored, { ...flags, dryRun: true }));
        expect(stored.files).toEqual(before);
        try {
          const ended = await run(stored, flags, { ...(killAt !== null && { killAt }) });
          if (ended.stopped instanceof Killed) throw ended.stopped;
          expect(planned).toEqual(ending(ended));
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
          stored.holder = null;
        }
        clock.advance(600_000);
      }
    }),
    { numRuns: repetitions(10, 1_200) },
  );
});

describe("after any changes, kills and failures", () => {
  test("a mirror is byte for byte a new mirror of the same catalogue", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { mirror, fresh, foreign, again } = await play(given);
        if (foreign === 0) expect(mirror).toEqual(fresh);
        expect(again).toMatchObject({ added: 0, changed: 0, renamed: 0, removed: 0, failed: 0 });
      }),
      { numRuns: repetitions(10, 1_200) },
    );
  });

  test("generated images have their label or not, and neither flag downloads them again", async () => {
    await fc.assert(
      fc.asyncProperty(labelScenario, async ({ scenario, ...given }) => {
        const { mirror, fresh, again } = await play(scenario, undefined, given);
        expect(mirror).toEqual(fresh);
        expect(again).toMatchObject({ added: 0, changed: 0, renamed: 0, removed: 0, failed: 0 });
      }),
      { numRuns: repetitions(10, 1_200) },
    );
  });

  longTest("the property notices a mirror that forgets what a killed run began", async () => {
    const found = await fc.check(
      fc.asyncProperty(scenario, async (given) => {
        const { mirror, fresh, foreign } = await play(given, ({ databases }) => databases.clear());
        if (foreign === 0) expect(mirror).toEqual(fresh);
      }),
      { numRuns: 300 },
    );
    expect(found.failed).toBe(true);
  });
});
