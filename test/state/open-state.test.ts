import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import type { State } from "../../src/state/state.ts";
import { type OpenStateOptions, openState } from "../../src/state/state.ts";
import { newAccount } from "../support/new-account.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const options: OpenStateOptions = { clock: systemClock() };
const service = "http://service.example";
const someRun = {
  id: "run",
  kind: "import",
  account: 1,
  identity: "identity",
  file: "products.csv",
  options: {},
  startedAt: 1,
};

/** A batch of `someRun` with its first row, without its index, references and bytes. */
const oneRow = {
  run: "run",
  idempotencyKey: "key",
  rows: new Uint32Array([0]),
  lines: new Uint32Array([0]),
  sentAt: 1,
  sentAtService: null,
  exclusive: true,
  memo: new Uint8Array(),
};

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Sets the umask until the test is over. */
function setUmask(umask: number): void {
  const before = process.umask(umask);
  onTestFinished(() => void process.umask(before));
}

/** Opens a state that is closed when the test is over. */
async function open(path: string | null, more: Partial<OpenStateOptions> = {}): Promise<State> {
  const state = await openState(path, { ...options, ...more });
  onTestFinished(() => {
    try {
      state.close();
    } catch {}
  });
  return state;
}

/** A closed state with one account. */
async function writtenState(path = join(temporaryFolder(), "default.db")): Promise<string> {
  const state = await openState(path, options);
  newAccount(state, service);
  state.close();
  return path;
}

function readIfFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** Changes a file with SQLite alone. */
async function execute(path: string, sql: string): Promise<void> {
  const db = (await loadConnect())(path);
  db.execute(sql);
  db.close();
}

test("a reopened state has all that was written, and no other file is left", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "default.db");
  const first = await open(path);
  expect(first.path).toBe(path);
  const account = newAccount(first, service);
  first.accounts.bind(service, "fingerprint", account);
  first.close();
  expect(readdirSync(folder)).toEqual(["default.db"]);
  // A single file, copied anywhere, is the complete state.
  copyFileSync(path, join(folder, "copy.db"));
  const second = await open(join(folder, "copy.db"));
  expect(second.accounts.find(service, "fingerprint")).toBe(account);
});

test("a state still used by another process is vacuumed by that process", async () => {
  const folder = temporaryFolder();
  const [first, second] = [await open(join(folder, "default.db")), await open(join(folder, "default.db"))];
  newAccount(first, service);
  first.close();
  expect(second.accounts.at(service)).toEqual([1]);
  expect(newAccount(second, service)).toBe(2);
  second.close();
  expect(readdirSync(folder)).toEqual(["default.db"]);
});

test("states in memory write no file and are independent of each other", async () => {
  const [one, other] = [await open(null), await open(null)];
  expect(one.path).toBe(null);
  expect(newAccount(one, service)).toBe(1);
  expect(other.accounts.at(service)).toEqual([]);
  expect(one.runs.hold(1, "identity", { pid: 1, since: 1 })).not.toHaveProperty("heldBy");
});

describe("only the owner can read the file", () => {
  test.each([0o000, 0o022, 0o077])("with the umask %o", async (umask) => {
    const folder = temporaryFolder();
    setUmask(umask);
    const path = join(folder, "state", "default.db");
    const state = await open(path);
    state.runs.hold(newAccount(state, service), "identity", { pid: 1, since: 1 });
    expect(modeOf(join(folder, "state"))).toBe("700");
    expect(
      readdirSync(join(folder, "state")).map((file) => [file, modeOf(join(folder, "state", file))]),
    ).toEqual([
      ["default.db", "600"],
      ["default.db-hold-1", "600"],
      ["default.db-shm", "600"],
      ["default.db-wal", "600"],
    ]);
  });

  test("the folder of a profile is closed to others, but that of a ledger stays unchanged", async () => {
    const folder = temporaryFolder();
    const path = await writtenState(join(folder, "ledger.db"));
    chmodSync(folder, 0o755);
    await open(path, { folder: "theirs" });
    expect(modeOf(folder)).toBe("755");
    await open(path);
    expect(modeOf(folder)).toBe("700");
  });
});

describe("a file is rejected and left unchanged", () => {
  /** Opens a file that must be rejected; returns the message, with FILE as its path. */
  async function refusal(path: string, more: Partial<OpenStateOptions> = {}) {
    const before = readIfFile(path);
    const error = await openState(path, { ...options, ...more }).then(
      () => null,
      (thrown) => thrown,
    );
    if (before !== null) expect(readFileSync(path).equals(before)).toBe(true);
    expect(error).toMatchObject({ name: "StateError", type: "state", hint: expect.stringMatching(/\.$/) });
    return [error.code, error.message.replaceAll(path, "FILE")];
  }
  const damaged = "the state file FILE is damaged, or was not written by this program";

  test("if a newer version wrote it", async () => {
    const path = await writtenState();
    await execute(path, "PRAGMA state.user_version = 1000");
    expect(await refusal(path)).toEqual([
      "state_newer",
      "the state file FILE was written by a newer version of this program",
    ]);
  });

  test("if it is a link, to a state or to nothing", async () => {
    const path = await writtenState();
    const expected = ["state_is_link", "the state file FILE is a symbolic link; it must be a regular file"];
    symlinkSync(path, `${path}.link`);
    expect(await refusal(`${path}.link`)).toEqual(expected);
    symlinkSync("/nowhere/at/all", `${path}.nothing`);
    expect(await refusal(`${path}.nothing`)).toEqual(expected);
  });

  test("if it has a second name, under which its log would be different", async () => {
    const path = await writtenState();
    const backup = join(temporaryFolder(), "backup.db");
    linkSync(path, backup);
    const sentence = "the state file FILE has a second hard link; it must have only one name";
    expect(await refusal(path)).toEqual(["state_has_links", sentence]);
    expect(await refusal(backup)).toEqual(["state_has_links", sentence]);
    rmSync(backup);
    // The temporary name is never used again.
    linkSync(path, `${path}-new-1`);
    expect((await open(path)).accounts.at(service)).toEqual([1]);
  });

  test("if it is a folder", async () => {
    const path = join(temporaryFolder(), "default.db");
    mkdirSync(path);
    expect(await refusal(path)).toEqual([
      "state_not_file",
      "the state file FILE is not a regular file (it is a folder)",
    ]);
  });

  test.each([
    ["nothing", "", " (it is empty)"],
    ["one line end", "\n", ""],
    ["a few words", "not a database", " (file is not a database)"],
    ["a table of products", "reference,name\nA,Shirt\n".repeat(200), " (file is not a database)"],
    ["zeros", "\0".repeat(8192), " (file is not a database)"],
  ])("if it contains %s", async (_, content, reason) => {
    const path = join(temporaryFolder(), "default.db");
    writeFileSync(path, content, { mode: 0o644 });
    chmodSync(path, 0o644);
    expect(await refusal(path)).toEqual([
      content === "" ? "state_corrupt" : "state_no_database",
      damaged + reason,
    ]);
    // A file named by the user is probably not a ledger at all.
    if (content !== "") {
      expect(await refusal(path, { folder: "theirs" })).toEqual([
        "state_not_ledger",
        "the file FILE is not a ledger of this program",
      ]);
    }
    expect(modeOf(path)).toBe("644");
    expect(readdirSync(join(path, ".."))).toEqual(["default.db"]);
  });

  test.each(["-wal", "-journal"])("if it is missing and its %s exists", async (log) => {
    const path = join(temporaryFolder(), "default.db");
    writeFileSync(path + log, "of another file");
    expect(await refusal(path)).toEqual(["state_corrupt", `${damaged} (its ${log} exists without it)`]);
    expect(readdirSync(join(path, ".."))).toEqual([`default.db${log}`]);
  });

  test("if it was emptied and its log was kept", async () => {
    const path = await writtenState();
    const bytes = readFileSync(path);
    truncateSync(path, 0);
    writeFileSync(`${path}-wal`, bytes);
    expect(await refusal(path)).toEqual(["state_corrupt", `${damaged} (it is empty)`]);
    expect(readFileSync(`${path}-wal`).equals(bytes)).toBe(true);
  });

  test("if it is truncated, at any byte", async () => {
    const path = await writtenState();
    const { size } = statSync(path);
    for (const kept of [0, 1, 99, 100, 4095, 4096, 8192, size - 4096, size - 1]) {
      copyFileSync(path, `${path}.cut`);
      truncateSync(`${path}.cut`, kept);
      const [code, message] = await refusal(`${path}.cut`);
      expect(code).toMatch(/^state_(corrupt|no_database)$/);
      expect(message).toContain(damaged);
    }
  });

  test("if one of its pages is overwritten", async () => {
    const path = await writtenState();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 2 * 4096, 3 * 4096);
    writeFileSync(path, bytes);
    const [code, message] = await refusal(path);
    expect(code).toBe("state_corrupt");
    expect(message).toContain(damaged);
  });

  test("if another program created it", async () => {
    const path = join(temporaryFolder(), "default.db");
    await execute(path, "CREATE TABLE state.bookmark (url TEXT)");
    const expected = ["state_foreign", "the state file FILE is the database of another program"];
    expect(await refusal(path)).toEqual(expected);
    await execute(path, "DROP TABLE state.bookmark");
    expect(await refusal(path)).toEqual(expected);
    await execute(path, "PRAGMA state.application_id = 77");
    expect(await refusal(path)).toEqual(expected);
  });

  test("if its folder does not exist", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "none", "ledger.db");
    expect(await refusal(path, { folder: "theirs" })).toEqual([
      "state_not_writable",
      "the state file FILE cannot be written (the folder does not exist)",
    ]);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(join(folder, "none"), "a file");
    for (const kind of ["theirs", "ours"] as const) {
      expect(await refusal(path, { folder: kind })).toEqual([
        "state_not_writable",
        "the state file FILE cannot be written (part of its path is a file, not a folder)",
      ]);
    }
  });

  test.runIf(process.platform === "linux")("if its folder cannot be created", async () => {
    expect(await refusal("/proc/none/state/default.db")).toEqual([
      "state_not_writable",
      "the state file FILE cannot be written (the folder does not exist)",
    ]);
  });
});

test("files left by a killed process do no harm", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "default.db");
  const begun = ["default.db-new-1", "default.db-new-2", "default.db-shm", "default.db-wal"];
  for (const file of begun) writeFileSync(join(folder, file), file.includes("new") ? "begun" : "");
  const state = await open(path);
  expect(newAccount(state, service)).toBe(1);
  state.close();
  expect(readdirSync(folder)).toEqual(["default.db", "default.db-new-1", "default.db-new-2"]);
  expect((await open(path)).accounts.at(service)).toEqual([1]);
});

test("a ledger named by the user is complete in one file at every moment, even without being closed", async () => {
  const path = join(temporaryFolder(), "ledger.db");
  const state = await open(path, { folder: "theirs" });
  const account = newAccount(state, service);
  const copy = join(temporaryFolder(), "copy.db");
  copyFileSync(path, copy);
  expect((await open(copy, { folder: "theirs" })).accounts.at(service)).toEqual([account]);
  const entries = Array.from({ length: 500 }, (_, index) => ({
    ...{ reference: `R${index}`, productId: `P${index}` },
    ...{ fields: new Uint8Array(100), photos: [{ source: Buffer.alloc(16), image: "image" }] },
  }));
  state.ledger.write(account, { entries });
  const later = join(temporaryFolder(), "copy.db");
  copyFileSync(path, later);
  expect((await open(later, { folder: "theirs" })).ledger.get(account, "R499")).toMatchObject({
    productId: "P499",
  });
  // No log ever exists that would be applied to another copy restored in its place.
  expect(readdirSync(dirname(path))).toEqual(["ledger.db"]);
});

test("two processes read and write one ledger in turns without locking each other out", async () => {
  const path = join(temporaryFolder(), "ledger.db");
  const [one, other] = [await open(path, { folder: "theirs" }), await open(path, { folder: "theirs" })];
  const account = newAccount(one, service);
  const entryOf = (reference: string) => ({
    ...{ reference, productId: `of ${reference}` },
    ...{ fields: new Uint8Array(), photos: [] },
  });
  for (const [at, [writer, reader]] of [[one, other] as const, [other, one] as const].entries()) {
    expect(reader.ledger.get(account, "none")).toBeNull();
    expect(reader.ledger.last(account)).toBe(at === 0 ? null : "of R0");
    expect(reader.accounts.at(service)).toEqual([account]);
    writer.ledger.write(account, { entries: [entryOf(`R${at}`)] });
    expect(reader.ledger.get(account, `R${at}`)).toMatchObject({ productId: `of R${at}` });
  }
});

describe("a state that disappeared", () => {
  const gone = expect.objectContaining({ name: "StateError", code: "state_gone" });

  test.each([
    ["removed", (path: string) => rmSync(path)],
    ["with its folder removed", (path: string) => rmSync(dirname(path), { recursive: true })],
    ["moved", (path: string) => renameSync(path, `${path}.old`)],
    ["replaced", (path: string) => renameSync(`${path}.copy`, path)],
  ])("is reported as %s before anything more is written", async (_, happens) => {
    const path = join(temporaryFolder(), "state", "default.db");
    const state = await open(path);
    newAccount(state, service);
    copyFileSync(path, `${path}.copy`);
    happens(path);
    expect(() => newAccount(state, service)).toThrow(gone);
    expect(() => state.ledger.setLookedAt(1, 1)).toThrow(gone);
  });
});

describe("damage found later is reported", () => {
  const corrupt = expect.objectContaining({ name: "StateError", code: "state_corrupt" });

  test("if a table was removed", async () => {
    const path = await writtenState();
    await execute(path, "DROP TABLE account_key");
    const state = await open(path);
    expect(() => state.accounts.find(service, "key")).toThrow(corrupt);
  });

  test("in a file too large to be checked when it is opened", async () => {
    const path = await writtenState();
    const writer = await open(path);
    const entries = Array.from({ length: 1_000 }, (_, index) => ({
      reference: `reference-${index}`,
      productId: `product-${index}`,
      fields: new Uint8Array(2_000),
      photos: [],
    }));
    writer.ledger.write(1, { entries });
    writer.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 40 * 4096));
    const state = await open(path);
    expect(() => entries.map(({ reference }) => state.ledger.get(1, reference))).toThrow(corrupt);
  });

  test("in the bytes of a batch", async () => {
    const path = await writtenState();
    const writer = await open(path);
    writer.runs.begin(someRun);
    const body = Buffer.from("reference,name\nA,Shirt\n");
    writer.batches.begin(1, { ...oneRow, index: 0, body, references: ["A"] });
    expect(Buffer.from(writer.batches.body("run", 0)).toString()).toBe("reference,name\nA,Shirt\n");
    writer.close();
    await execute(
      path,
      "UPDATE state.body SET bytes = CAST('reference,name' || char(10) || 'A,Skirt' AS BLOB)",
    );
    const state = await open(path);
    expect(() => state.batches.body("run", 0)).toThrow(corrupt);
  });
});

test("the file shrinks after large data is deleted", async () => {
  const path = await writtenState();
  const state = await open(path);
  state.runs.begin(someRun);
  const body = Buffer.alloc(4_000_000, "x");
  for (let index = 0; index < 4; index++) {
    state.batches.begin(1, { ...oneRow, index, body, references: [`reference-${index}`] });
  }
  for (let index = 0; index < 4; index++) state.batches.accepted("run", index, [`import-${index}`]);
  state.close();
  expect(statSync(path).size).toBeLessThan(400_000);
});
