// @ts-nocheck: it replaces functions of node:fs by their names.
// Loaded before the program: before the n-th step of a kind on the files of its folder, it is killed, the power fails, or the
// disk is full from then on. A power failure takes half of each file that was not synced. The disk is slow: meanwhile, files
// gather to batches.
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { sep } from "node:path";

const { step: wanted, nth, how } = JSON.parse(process.env.SOAK_DISK);
const folder = process.cwd() + sep;
const home = process.env.CAT_HOME + sep;
/** The files that are open, by descriptor. */
const files = new Map();
/** The paths of files with bytes that are not synced. */
const unsynced = new Set();
const { truncateSync } = fs;
const syncMs = 15;
let seen = 0;
let isFull = false;

const isOwn = (path) => typeof path === "string" && path.startsWith(folder) && !path.startsWith(home);

/** Returns an error if the step fails. */
function meet(step) {
  if (step === wanted && ++seen === nth) {
    if (how === "full") isFull = true;
    else end();
  }
  if (!isFull || (step !== "writing" && step !== "recording")) return null;
  return Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC", errno: -28 });
}

function end() {
  if (how === "power cut")
    for (const path of unsynced) {
      const stats = fs.statSync(path, { throwIfNoEntry: false });
      if (stats?.isFile()) truncateSync(path, stats.size >> 1);
    }
  process.kill(process.pid, "SIGKILL");
}

/** Replaces a function of node:fs; `before` returns an error, or what follows the call with its result. */
function replace(name, before) {
  const own = fs[name];
  const isSync = name.endsWith("Sync");
  const replaced = (...args) => {
    const next = before(...args);
    if (next instanceof Error) {
      if (isSync) throw next;
      return process.nextTick(args.at(-1), next);
    }
    if (next == null) return own(...args);
    if (isSync) {
      const result = own(...args);
      next(result);
      return result;
    }
    const callback = args.pop();
    return own(...args, (error, ...results) => {
      if (error == null) next(...results);
      if (name === "fsync") setTimeout(callback, syncMs, error);
      else callback(error, ...results);
    });
  };
  // `promisify` looks for more than the function.
  fs[name] = Object.defineProperties(replaced, Object.getOwnPropertyDescriptors(own));
}

const opened = (path, flags) => {
  if (!isOwn(path)) return (descriptor) => files.delete(descriptor);
  const isNew = typeof flags === "number" && (flags & fs.constants.O_EXCL) !== 0;
  return (isNew ? meet("writing") : null) ?? ((descriptor) => files.set(descriptor, path));
};
const written = (descriptor) => {
  const path = files.get(descriptor);
  if (path === undefined) return null;
  const error = meet("writing");
  unsynced.add(path);
  return error;
};
const synced = (descriptor) => {
  const path = files.get(descriptor);
  return path === undefined ? null : (meet("syncing") ?? (() => unsynced.delete(path)));
};
const named = (from, to) => {
  if (!isOwn(to)) return null;
  const move = () => {
    if (unsynced.has(from)) unsynced.add(to);
  };
  return meet("naming") ?? move;
};
for (const name of ["open", "openSync"]) replace(name, opened);
for (const name of ["write", "writev", "writeSync", "writevSync"]) replace(name, written);
for (const name of ["fsync", "fdatasync"]) replace(name, synced);
for (const name of ["linkSync", "renameSync"]) replace(name, named);
replace("unlinkSync", (path) => (isOwn(path) ? meet("removing") : null));
for (const name of ["close", "closeSync"]) replace(name, (descriptor) => void files.delete(descriptor));
syncBuiltinESMExports();

/** SQLite writes by itself: its transactions end by a statement. */
const Database = createRequire(import.meta.url)("libsql");
const { exec, prepare } = Database.prototype;
const commit = (db, run) => {
  if (!db.inTransaction || meet("recording") === null) return run();
  exec.call(db, "ROLLBACK");
  throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL", rawCode: 13 });
};
Database.prototype.exec = function (sql) {
  const run = () => exec.call(this, sql);
  return sql === "COMMIT" ? commit(this, run) : run();
};
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql !== "COMMIT") return statement;
  const { run } = statement;
  statement.run = (...values) => commit(this, () => run.apply(statement, values));
  return statement;
};
