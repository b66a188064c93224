import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FrozenMemory } from "../../../../src/flows/export/frozen/frozen-run.ts";
import { deliver, isDelivered, makeWorkFolder } from "../../../../src/flows/export/frozen/write-results.ts";
import { openState } from "../../../../src/state/state.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { TestClock } from "../../../support/test-clock.ts";

const baseUrl = "https://api.example.com";

async function place() {
  const folder = temporaryFolder();
  const { marks } = await openState(null, { clock: new TestClock() });
  const memory = new FrozenMemory(marks, baseUrl, "run_1");
  const path = join(folder, "a.zip");
  const from = join(folder, "work");
  writeFileSync(from, "new");
  return { folder, marks, memory, path, from, target: { path, name: "a.zip", replaces: true } };
}

test("the folder for incomplete files is made in a folder that exists, and found again", async () => {
  const { folder, target } = await place();
  const made = await makeWorkFolder(target, "run_12345678");
  expect([made, await makeWorkFolder(target, "run_12345678")]).toEqual([
    join(folder, ".a.zip.12345678.part"),
    made,
  ]);
  const elsewhere = { path: join(folder, "missing", "a.zip"), name: "missing/a.zip", replaces: true };
  await expect(makeWorkFolder(elsewhere, "run_12345678")).rejects.toThrow(
    "cannot write missing/a.zip: no such file or folder",
  );
});

describe("a file that was moved to its place", () => {
  test("is recognized by the next process of the run only while it is the same file", async () => {
    const { memory, path, from, target } = await place();
    writeFileSync(path, "old");
    expect(await isDelivered(path, memory)).toBe(false);
    await deliver(from, target, memory);
    expect([readFileSync(path, "utf8"), await isDelivered(path, memory)]).toEqual(["new", true]);
    writeFileSync(`${path}.other`, "another");
    renameSync(`${path}.other`, path);
    expect(await isDelivered(path, memory)).toBe(false);
  });

  test("was recorded before it was moved, so that a kill in between loses nothing", async () => {
    const { memory, path, from, target } = await place();
    const recorded = new Map<string, string>();
    const recorder = {
      addDelivered: (at: string, identity: string) => {
        expect(statSync(from).isFile()).toBe(true);
        recorded.set(at, identity);
      },
    };
    await deliver(from, target, recorder);
    expect([...recorded.keys()]).toEqual([path]);
    memory.addDelivered(path, recorded.get(path)!);
    expect(await isDelivered(path, memory)).toBe(true);
  });

  test("takes the permissions of the one it replaces, at the end of a link", async () => {
    const { folder, memory, path, from, target } = await place();
    mkdirSync(join(folder, "there"));
    writeFileSync(join(folder, "there", "b.zip"), "old");
    chmodSync(join(folder, "there", "b.zip"), 0o640);
    symlinkSync("there/b.zip", path);
    await deliver(from, target, memory);
    expect(readFileSync(join(folder, "there", "b.zip"), "utf8")).toBe("new");
    expect(statSync(join(folder, "there", "b.zip")).mode & 0o777).toBe(0o640);
    expect(await isDelivered(path, memory)).toBe(true);
  });

  test("does not replace a file that took its name meanwhile, but gets the next one", async () => {
    const { folder, memory, path, from, target } = await place();
    writeFileSync(path, "mine");
    await expect(deliver(from, { ...target, replaces: false }, memory)).rejects.toMatchObject({
      ...{ type: "output", code: "file_appeared" },
      message: "a.zip was created by another program meanwhile, and stays; the new file is a-2.zip",
    });
    expect([readFileSync(path, "utf8"), readFileSync(join(folder, "a-2.zip"), "utf8")]).toEqual([
      "mine",
      "new",
    ]);
    expect(await isDelivered(path, memory)).toBe(false);
  });

  test("that is a folder replaces an empty folder only", async () => {
    const { folder, memory } = await place();
    const [from, path] = [join(folder, "files"), join(folder, "images")];
    for (const one of [from, path]) mkdirSync(one);
    writeFileSync(join(from, "a.jpg"), "new");
    writeFileSync(join(path, "mine"), "old");
    await expect(deliver(from, { path, name: "images", replaces: true }, memory)).rejects.toMatchObject({
      type: "output",
      message: "cannot write images: the folder is not empty",
    });
    expect(readFileSync(join(path, "mine"), "utf8")).toBe("old");
  });
});
