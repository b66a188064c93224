import type * as fs from "node:fs";
import { copyFileSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { storedLedger } from "../../src/state/ledger.ts";
import { migrate } from "../../src/state/migrations.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import { openState } from "../../src/state/state.ts";
import { newAccount } from "../support/new-account.ts";
import { sampled } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The file system call that fails (counted down) and its error, and the calls so far. */
const faults = vi.hoisted(() => ({
  left: Number.POSITIVE_INFINITY,
  code: "EIO",
  called: [] as string[],
  /** Replaces the call that gives a file a second name. */
  onLink: undefined as ((from: string, to: string) => void) | undefined,
}));

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const watched = Object.fromEntries(
    (["accessSync", "chmodSync", "closeSync", "lstatSync", "mkdirSync", "openSync", "statSync"] as const).map(
      (name) => [
        name,
        (...values: never[]) => {
          const { stack = "" } = new Error();
          // Whether files can be opened at all is found out by opening some.
          if (stack.includes("/src/state/") && !stack.includes("whyNoFiles")) {
            faults.called.push(name);
            if (--faults.left === 0) throw Object.assign(new Error(faults.code), { code: faults.code });
          }
          return (real[name] as (...values: never[]) => unknown)(...values);
        },
      ],
    ),
  );
  const linkSync = (from: string, to: string) => (faults.onLink ?? real.linkSync)(from, to);
  return { ...real, ...watched, linkSync };
});

afterEach(() => {
  faults.left = Number.POSITIVE_INFINITY;
  faults.onLink = undefined;
});

const options = { clock: systemClock() };

describe("after a failing file system call, the state reports a plain error and the next attempt succeeds", () => {
  test.each(
    sampled(
      [
        ["EACCES", "state_not_writable", "cannot be written (permission denied)"],
        ["EROFS", "state_not_writable", "cannot be written (the file system is read-only)"],
        ["EIO", "state_not_writable", "cannot be written (the disk reported an error)"],
        ["ENOSPC", "state_full", "cannot be written: the disk is full"],
        ["EDQUOT", "state_full", "cannot be written: the disk is full"],
      ],
      1,
    ),
  )("with %s", async (code, problem, sentence) => {
    faults.code = code;
    const old = join(temporaryFolder(), "default.db");
    const first = await openState(old, options);
    newAccount(first, "http://service.example");
    first.close();
    for (const makePath of [() => join(temporaryFolder(), "state", "default.db"), () => old]) {
      faults.called = [];
      (await openState(makePath(), options)).close();
      const count = faults.called.length;
      expect(count).toBeGreaterThan(5);
      for (let failing = 1; failing <= count; failing++) {
        const path = makePath();
        faults.left = failing;
        let thrown: unknown;
        try {
          (await openState(path, options)).close();
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toMatchObject({ code: problem, message: `the state file ${path} ${sentence}` });
        faults.left = Number.POSITIVE_INFINITY;
        const again = await openState(path, options);
        expect(again.accounts.at("http://service.example")).toEqual(path === old ? [1] : []);
        again.close();
      }
    }
  });
});

describe("a new state appears complete", () => {
  const service = "http://service.example";
  const noLinks = () => {
    throw Object.assign(new Error("EPERM"), { code: "EPERM" });
  };
  const accountsAt = async (path: string) => {
    const state = await openState(path, options);
    try {
      return state.accounts.at(service);
    } finally {
      state.close();
    }
  };

  test("with its tables, before it has its name", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "default.db");
    faults.onLink = (from, to) => {
      expect([from, to, readdirSync(folder)]).toEqual([`${path}-new-1`, path, ["default.db-new-1"]]);
      expect(statSync(from).mode & 0o777).toBe(0o600);
      copyFileSync(from, join(folder, "copy.db"));
      copyFileSync(from, to);
    };
    (await openState(path, options)).close();
    faults.onLink = noLinks;
    expect(await accountsAt(join(folder, "copy.db"))).toEqual([]);
    expect(readdirSync(folder)).toEqual(["copy.db", "default.db"]);
  });

  test("on a file system without links", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "default.db");
    faults.onLink = noLinks;
    const first = await openState(path, options);
    expect(newAccount(first, service)).toBe(1);
    first.close();
    expect(readdirSync(folder)).toEqual(["default.db"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await accountsAt(path)).toEqual([1]);
  });

  test.each(["with links", "without links"])(
    "and never replaces that of another process, %s",
    async (how) => {
      const folder = temporaryFolder();
      const [path, theirs] = [join(folder, "default.db"), join(folder, "theirs.db")];
      const other = await openState(theirs, options);
      newAccount(other, service);
      other.close();
      faults.onLink = (_, to) => {
        renameSync(theirs, to);
        faults.onLink = undefined;
        if (how === "without links") noLinks();
        throw Object.assign(new Error("EEXIST"), { code: "EEXIST" });
      };
      expect(await accountsAt(path)).toEqual([1]);
      expect(readdirSync(folder)).toEqual(["default.db"]);
    },
  );
});

test("a full disk is reported, and nothing of the failed step is written", async () => {
  const path = join(temporaryFolder(), "default.db");
  const db = (await loadConnect())(path);
  migrate(db);
  const ledger = storedLedger(db);
  const entry = (index: number, size: number) => ({
    reference: `reference-${index}`,
    productId: `product-${index}`,
    fields: new Uint8Array(size),
    photos: [],
  });
  ledger.write(1, { entries: [entry(0, 10)] });
  db.execute(`PRAGMA state.max_page_count = ${Number(db.pragma("page_count")) + 20}`);
  const entries = Array.from({ length: 100 }, (_, index) => entry(index, 3_000));
  expect(() => ledger.write(1, { entries })).toThrow(
    expect.objectContaining({
      code: "state_full",
      message: `the state file ${path} cannot be written: the disk is full`,
    }),
  );
  expect(ledger.last(1)).toBe("product-0");
  expect(ledger.get(1, "reference-0")).toEqual({
    ...{ ...entry(0, 10), fields: Buffer.alloc(10) },
  });
  // The connection still works.
  ledger.write(1, { entries: [entry(1, 10)] });
  expect(ledger.get(1, "reference-1")).not.toBe(null);
  db.close();
  expect(readFileSync(path).length).toBeGreaterThan(0);
});

test("a lock that another process holds for too long is reported", async () => {
  const path = join(temporaryFolder(), "default.db");
  (await openState(path, options)).close();
  const connect = await loadConnect();
  const [writer, waiting] = [connect(path), connect(path, 10)];
  writer.transaction(() => {
    expect(() => waiting.transaction(() => {})).toThrow(
      expect.objectContaining({
        code: "state_busy",
        message: `the state file ${path} is locked by another process (database is locked)`,
      }),
    );
  });
  expect(waiting.transaction(() => "free again")).toBe("free again");
  writer.close();
  waiting.close();
});
