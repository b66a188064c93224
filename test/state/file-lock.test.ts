import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { lockFile, lockTemporaryFile } from "../../src/state/file-lock.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const between = vi.hoisted(() => ({ run: (): void => {} }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const accessSync: typeof fs.accessSync = (...args) => {
    between.run();
    real.accessSync(...args);
  };
  return { ...real, accessSync };
});

test("a file whose owner removes it while it is checked is locked as a new one", async () => {
  const path = join(temporaryFolder(), "m.lock");
  fs.writeFileSync(path, "");
  let removals = 0;
  between.run = () => {
    if (removals++ < 2) fs.unlinkSync(path);
  };
  const unlock = await lockTemporaryFile(path);
  expect([removals > 0, typeof unlock, await lockTemporaryFile(path)]).toEqual([true, "function", null]);
  unlock!();
  expect(fs.existsSync(path)).toBe(false);
});

test("a folder that is missing is an error", async () => {
  between.run = () => {};
  await expect(lockTemporaryFile(join(temporaryFolder(), "nowhere/m.lock"))).rejects.toThrow(
    "the folder does not exist",
  );
});

test.each([lockFile, lockTemporaryFile])("a file with content is rejected, and stays: %o", async (lock) => {
  between.run = () => {};
  const connect = await loadConnect();
  const database = join(temporaryFolder(), "m.lock");
  const other = connect(database);
  other.execute("CREATE TABLE state.t (a); INSERT INTO t VALUES (1)");
  other.close();
  const byte = join(temporaryFolder(), "m.lock");
  fs.writeFileSync(byte, "x");
  for (const path of [database, byte]) {
    const content = fs.readFileSync(path);
    await expect(lock(path)).rejects.toMatchObject({
      code: "state_no_database",
      message: expect.stringContaining(" (a lock is an empty file)"),
    });
    expect(fs.readFileSync(path)).toEqual(content);
  }
});
