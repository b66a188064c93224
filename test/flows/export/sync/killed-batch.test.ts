import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LocalFolder } from "../../../../src/flows/export/sync/local-folder.ts";
import { mirrorFiles } from "../../../../src/flows/export/sync/mirror-state.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
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

test("a run that is killed between any two steps of a batch is completed by the next one, without leftovers", async () => {
  const { run, newMirror, catalogue } = mirrorWorld();
  for (const reference of ["A", "B", "C"]) catalogue.add(reference, ["source", "tryon"]);
  const mirror = join(temporaryFolder(), "mirror");
  /** Copies as a kill would leave the folder, by the step that follows. */
  const copies: [step: string, folder: string][] = [];
  const store = new LocalFolder(mirror, work);
  for (const name of ["write", "sync", "put"] as const) {
    const own = store[name].bind(store) as (...values: unknown[]) => Promise<unknown>;
    const copied = async (...values: unknown[]) => {
      const folder = join(temporaryFolder(), "mirror");
      cpSync(mirror, folder, { recursive: true });
      copies.push([`${name} ${typeof values[0] === "string" ? values[0] : ""}`, folder]);
      return own(...values);
    };
    Object.assign(store, { [name]: copied });
  }
  await run(newMirror(), {}, { store });
  const complete = filesOf(mirror);
  expect(Object.keys(complete)).toHaveLength(7);
  const steps = copies.map(([step]) => step.split(" ", 1)[0]);
  expect(steps.filter((step) => step === "write")).toHaveLength(6);
  // Every image is on the disk before the first one has its name.
  expect(steps.lastIndexOf("sync")).toBeLessThan(copies.findIndex(([step]) => step.startsWith("put A")));
  for (const [step, folder] of copies) {
    await run(newMirror(), {}, { store: new LocalFolder(folder, work) });
    expect([step, filesOf(folder)]).toEqual([step, complete]);
    expect([step, readdirSync(join(folder, work, "parts"))]).toEqual([step, []]);
  }
});
