import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/clock.ts";
import type { MirrorStore } from "../../../../../src/flows/export/sync/mirror-store.ts";
import { TestClock } from "../../../../support/test-clock.ts";

/** A new place, and stores in it: each call is another process. */
export type NewPlace = () => (() => MirrorStore) | Promise<() => MirrorStore>;

const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };
const text = (value: string): Uint8Array[] => [Buffer.from(value)];

async function pathsOf(store: MirrorStore, folder?: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const path of store.list(folder)) paths.push(path);
  return paths.sort();
}

/** What every store of a mirror must do. `hasLocks`: unless it keeps no other process out. */
export function mirrorStoreContract(name: string, newPlace: NewPlace, { hasLocks = true } = {}): void {
  describe(`the store ${name}`, () => {
    test("has nothing at first", async () => {
      const store = (await newPlace())();
      expect(await pathsOf(store)).toEqual([]);
      expect(await store.read("a.jpg")).toBeNull();
      expect(await store.stat("a.jpg")).toBeNull();
      expect(await store.stat("folder/a.jpg")).toBeNull();
      expect(await pathsOf(store, "folder")).toEqual([]);
    });

    test("returns the bytes that were written, also to another process", async () => {
      const open = await newPlace();
      const parts = [Buffer.from([0, 255]), Buffer.alloc(100_000, 7)];
      expect(await open().put("folder/ä/a.jpg", parts)).not.toBeNull();
      const other = open();
      const whole = Buffer.concat(parts);
      expect(whole.equals((await other.read("folder/ä/a.jpg"))!)).toBe(true);
      expect(await other.stat("folder/ä/a.jpg")).toEqual({ bytes: 100_002 });
      const chunks: Uint8Array[] = [];
      for await (const chunk of other.readParts("folder/ä/a.jpg")) chunks.push(chunk);
      expect(whole.equals(Buffer.concat(chunks))).toBe(true);
    });

    test("writes what arrives bit by bit, and empty files", async () => {
      const store = (await newPlace())();
      await store.put(
        "slow.jpg",
        (async function* () {
          for (const letter of "abc") yield Buffer.from(letter);
        })(),
      );
      await store.put("empty", []);
      expect(String(await store.read("slow.jpg"))).toBe("abc");
      expect(await store.stat("empty")).toEqual({ bytes: 0 });
      expect(await store.read("empty")).toHaveLength(0);
    });

    test("replaces a file, unless it is to be a new one", async () => {
      const store = (await newPlace())();
      expect(await store.put("a", text("one"), { exclusive: true })).not.toBeNull();
      expect(await store.put("a", text("two"))).not.toBeNull();
      expect(await store.put("a", text("three"), { exclusive: true })).toBeNull();
      expect(String(await store.read("a"))).toBe("two");
      expect(await pathsOf(store)).toEqual(["a"]);
    });

    test("changes a file, or leaves it as it is", async () => {
      const store = (await newPlace())();
      const clock = new TestClock();
      await store.change("a", async (content) => Buffer.from(`${content}`), clock);
      await store.change("a", async () => null, clock);
      await store.change("a", async (content) => Buffer.from(`${content}!`), clock);
      expect(String(await store.read("a"))).toBe("null!");
    });

    test.runIf(hasLocks)("keeps the changes of all processes that make some at once", async () => {
      const open = await newPlace();
      const add = (line: string) =>
        open().change(
          "a",
          async (content) => {
            // Others get their turn between a look and the write.
            await new Promise(setImmediate);
            return Buffer.concat([content ?? Buffer.alloc(0), Buffer.from(line)]);
          },
          systemClock(),
        );
      const lines = Array.from({ length: 3 }, (_, at) => `${at}\n`);
      await Promise.all(lines.map(add));
      expect(
        String(await open().read("a"))
          .match(/.*\n/g)!
          .sort(),
      ).toEqual(lines);
    });

    test("keeps the old file if the content of the new one fails", async () => {
      const store = (await newPlace())();
      await store.put("a", text("old"));
      const failing = (async function* () {
        yield Buffer.from("new");
        throw new Error("the connection broke");
      })();
      await expect(store.put("a", failing)).rejects.toThrow("the connection broke");
      expect(String(await store.read("a"))).toBe("old");
      expect(await pathsOf(store)).toEqual(["a"]);
    });

    test("makes sure that a file exists, and keeps its content", async () => {
      const store = (await newPlace())();
      await store.put("work/a", text("one"));
      for (const path of ["work/a", "work/b"]) store.touch(path);
      expect(await store.stat("work/b")).toEqual({ bytes: 0 });
      expect(String(await store.read("work/a"))).toBe("one");
    });

    test("keeps a database, and throws a copy of it away", async () => {
      const store = (await newPlace())();
      const rows = async (sql: string, options = {}) => {
        const db = await store.database("a.db", options);
        db.execute(sql);
        const found = db.statement("SELECT a FROM one ORDER BY a").all();
        db.close();
        return found;
      };
      expect(await rows("CREATE TABLE state.one (a); INSERT INTO one VALUES (1)")).toEqual([[1]]);
      expect(await rows("INSERT INTO one VALUES (2)", { isCopy: true })).toEqual([[1], [2]]);
      expect(await rows("INSERT INTO one VALUES (3)")).toEqual([[1], [3]]);
    });

    test("moves a file into another folder", async () => {
      const store = (await newPlace())();
      await store.put("a/b/c.jpg", text("image"));
      await store.rename("a/b/c.jpg", "d/e.jpg");
      expect(await pathsOf(store)).toEqual(["d/e.jpg"]);
      expect(String(await store.read("d/e.jpg"))).toBe("image");
      await expect(store.rename("a/b/c.jpg", "f.jpg")).rejects.toThrow(/./);
    });

    test("moves no file to a name that is taken", async () => {
      const store = (await newPlace())();
      await store.put("a", text("one"));
      await store.put("b", text("two"));
      expect(await store.rename("a", "b")).toBeNull();
      expect([String(await store.read("a")), String(await store.read("b"))]).toEqual(["one", "two"]);
      expect(await store.isSame("a", "b")).toBe(false);
      expect(await store.rename("a", "c")).not.toBeNull();
      expect(await pathsOf(store)).toEqual(["b", "c"]);
      expect(await store.isSame("c", "c")).toBe(true);
    });

    test("removes a file, and does nothing if it is missing", async () => {
      const store = (await newPlace())();
      await store.put("a/b.jpg", text("image"));
      await store.remove("a/b.jpg");
      await store.remove("a/b.jpg");
      await store.remove("x/y.jpg");
      expect(await pathsOf(store)).toEqual([]);
    });

    test("lists the files of all folders, or of one", async () => {
      const store = (await newPlace())();
      for (const path of ["a", "b/c", "b/d/e", "bc/f"]) await store.put(path, text(path));
      expect(await pathsOf(store)).toEqual(["a", "b/c", "b/d/e", "bc/f"]);
      expect(await pathsOf(store, "b")).toEqual(["b/c", "b/d/e"]);
      expect(await pathsOf(store, "b/d")).toEqual(["b/d/e"]);
    });

    test.for(["../a", "a/../../b", "/a", "a//b", ".", "a/.", "", "a\\b", "a\0b"])(
      "rejects a path that may lead out of it: %j",
      async (path) => {
        const store = (await newPlace())();
        const problem = { code: "unsafe_path", type: "output" };
        await expect(store.put(path, text("x"))).rejects.toMatchObject(problem);
        await expect(store.read(path)).rejects.toMatchObject(problem);
        await expect(store.stat(path)).rejects.toMatchObject(problem);
        await expect(store.remove(path)).rejects.toMatchObject(problem);
        await store.put("a", text("x"));
        await expect(store.rename("a", path)).rejects.toMatchObject(problem);
      },
    );

    test.runIf(hasLocks)(
      "is held by one process at a time, and by the next one after it was released",
      async () => {
        const open = await newPlace();
        const [one, other] = [open(), open()];
        const lock = await one.lock(holder);
        if (!("release" in lock)) throw new Error("the lock was taken");
        expect(await other.lock({ pid: 2, since: "" })).toEqual({ heldBy: holder });
        await lock.release();
        const next = await other.lock({ pid: 2, since: "" });
        expect("release" in next).toBe(true);
        if ("release" in next) await next.release();
      },
    );
  });
}
