import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LocalFolder } from "../../../../src/flows/export/sync/local-folder.ts";
import { MirrorIndex } from "../../../../src/flows/export/sync/mirror-index.ts";
import { mirrorFiles } from "../../../../src/flows/export/sync/mirror-state.ts";
import { type RemovableFile, UnnamedFile } from "../../../../src/flows/files/output-file.ts";
import { sampled } from "../../../support/repetitions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { powerCuts } from "../../files/power-cuts.ts";
import { mirrorWorld } from "./mirror-world.ts";

const { work } = mirrorFiles(null);

/** The images and the index of a mirror by their names, without its hidden folder. */
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(".catalogue-sync"))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length), readFileSync(path, "latin1")]),
  );

/** Six images, one of which is downloaded to the disk, as large ones are. */
function sixImages() {
  const { run, newMirror, catalogue } = mirrorWorld();
  for (const reference of ["A", "B", "C"]) catalogue.add(reference, ["source", "tryon"]);
  catalogue.unannounced = new Set([catalogue.products[1]!.assets[1]!.id]);
  const mirror = join(temporaryFolder(), "mirror");
  const runIn = (folder: string, store = new LocalFolder(folder, work)) => run(newMirror(), {}, { store });
  return { mirror, catalogue, runIn };
}

test("a run that is killed between any two steps of a batch is completed by the next one, without leftovers", async () => {
  const { mirror, runIn } = sixImages();
  /** Copies as a kill would leave the folder, by the step that follows. */
  const copies: [step: string, folder: string][] = [];
  const copy = (step: string) => {
    const folder = join(temporaryFolder(), "mirror");
    cpSync(mirror, folder, { recursive: true });
    copies.push([step, folder]);
  };
  const store = new LocalFolder(mirror, work);
  for (const name of ["write", "sync", "put"] as const) {
    const own = store[name].bind(store) as (...values: unknown[]) => Promise<unknown>;
    const copied = async (...values: unknown[]) => {
      copy(`${name} ${name === "put" ? values[0] : values[1]}`);
      return own(...values);
    };
    Object.assign(store, { [name]: copied });
  }
  const { willPlace } = MirrorIndex.prototype;
  const recorded = vi.spyOn(MirrorIndex.prototype, "willPlace");
  recorded.mockImplementation(function (this: MirrorIndex, entries) {
    copy(`record ${entries.length}`);
    willPlace.call(this, entries);
    copy("recorded");
  });
  await runIn(mirror, store).finally(() => recorded.mockRestore());
  const complete = filesOf(mirror);
  const images = Object.keys(complete).filter((path) => path.endsWith(".jpg"));
  expect(images).toHaveLength(6);
  const steps = copies.map(([step]) => step);
  // Those of a batch together: the second image is on the disk before the first one has its name.
  expect(steps.filter((step) => step.startsWith("sync"))).toHaveLength(6);
  expect(steps.findIndex((step) => step.startsWith("sync")) + 1).toBeLessThan(
    steps.findIndex((step) => step.endsWith(".jpg") && step.startsWith("put")),
  );
  for (const image of images)
    expect(steps.indexOf(`sync ${image.slice(1)}`)).toBeLessThan(steps.indexOf(`put ${image.slice(1)}`));
  for (const [step, folder] of sampled(copies, 9)) {
    await runIn(folder);
    expect([step, filesOf(folder)]).toEqual([step, complete]);
    expect([step, readdirSync(join(folder, work, "parts"))]).toEqual([step, []]);
  }
});

test("an image of a mirror that has its name has its bytes, whenever the power fails", async () => {
  const { mirror, runIn } = sixImages();
  mkdirSync(mirror);
  const cuts = await powerCuts(mirror, () => runIn(mirror));
  const complete = filesOf(mirror);
  expect(cuts.filter(({ step }) => step.endsWith(" name")).length).toBeGreaterThanOrEqual(6);
  for (const { step, folder } of cuts) {
    const images = Object.entries(filesOf(folder)).filter(([path]) => path.endsWith(".jpg"));
    expect([step, images]).toEqual([step, images.map(([path]) => [path, complete[path]])]);
  }
});

/** Fails a step of a store for one path, as a full disk does. */
function fullAt(folder: string, step: "write" | "sync", path: string): LocalFolder {
  const store = new LocalFolder(folder, work);
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  if (step === "write") {
    const write = UnnamedFile.write;
    vi.spyOn(UnnamedFile, "write").mockImplementation(async (...values) => {
      const [content] = values;
      if (Array.isArray(content) && Buffer.concat(content).includes(path)) throw full;
      return write.apply(UnnamedFile, values);
    });
  } else {
    const sync = store.sync.bind(store);
    const failing = { sync: () => Promise.reject(full) } as unknown as RemovableFile;
    store.sync = (file, shown) => sync(shown() === path ? failing : file, shown);
  }
  return store;
}

test.each(sampled(["write", "sync"] as const, 1))(
  "a disk that is full at a %s keeps every image that has its name, names the one that failed, and the next run completes the mirror",
  async (step) => {
    const { mirror, catalogue, runIn } = sixImages();
    await runIn(mirror);
    const before = filesOf(mirror);
    const added = catalogue.add("D", ["source", "tryon", "beautifier"]);
    const [, asset] = added.assets;
    const store = fullAt(mirror, step, step === "write" ? asset!.id : "D_tryon.jpg");
    const { stopped } = await runIn(mirror, store).finally(() => vi.restoreAllMocks());
    expect(stopped).toMatchObject({
      type: "output",
      message: `cannot write ${mirror}/D_tryon.jpg: no space left on device`,
    });
    expect(filesOf(mirror)).toMatchObject(
      Object.fromEntries(Object.entries(before).filter(([path]) => path.endsWith(".jpg"))),
    );
    expect(Object.keys(filesOf(mirror))).not.toContain("/D_tryon.jpg");
    await runIn(mirror);
    const fresh = join(temporaryFolder(), "mirror");
    await runIn(fresh);
    expect(filesOf(mirror)).toEqual(filesOf(fresh));
    expect(readdirSync(join(mirror, work, "parts"))).toEqual([]);
  },
);
