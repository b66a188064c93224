import { fillLooks } from "./looks.ts";
import type { Database } from "./sqlite.ts";

/** The tables of a state, for a new file; the migrations bring an older one to the same. */
const schema = `
  CREATE TABLE state.account (
    id INTEGER PRIMARY KEY AUTOINCREMENT, base_url TEXT NOT NULL, looked_at INTEGER, last_run TEXT, seen_product BLOB
  ) STRICT;
  CREATE TABLE state.account_key (
    base_url TEXT NOT NULL, fingerprint TEXT NOT NULL, account INTEGER NOT NULL REFERENCES account,
    PRIMARY KEY (base_url, fingerprint)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE state.run (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account INTEGER NOT NULL, identity TEXT NOT NULL,
    file TEXT NOT NULL, options TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER,
    kind TEXT NOT NULL DEFAULT 'import', who TEXT, command TEXT, base_url TEXT, ledger TEXT, exit INTEGER, counts TEXT,
    undone TEXT
  ) STRICT;
  CREATE INDEX state.run_open ON run (account, kind, identity) WHERE ended_at IS NULL;
  -- The lock file that the owner has locked is named by the id, which never comes again.
  CREATE TABLE state.hold (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, identity TEXT NOT NULL, pid INTEGER NOT NULL,
    since INTEGER NOT NULL, file TEXT NOT NULL DEFAULT '', UNIQUE (account, identity)
  ) STRICT;

  CREATE TABLE state.batch (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES run (id), place INTEGER NOT NULL, account INTEGER NOT NULL,
    key TEXT NOT NULL, state TEXT NOT NULL, jobs TEXT, bytes INTEGER NOT NULL, digest BLOB NOT NULL,
    sent_at INTEGER NOT NULL, rows BLOB NOT NULL, lines BLOB NOT NULL, sent_at_service INTEGER,
    refs TEXT NOT NULL DEFAULT '', is_key_taken INTEGER NOT NULL DEFAULT 0, UNIQUE (run, place)
  ) STRICT;
  CREATE INDEX state.call_unsettled ON batch (account) WHERE state <> 'settled';
  -- Bytes are in tables of their own: they can be dropped, and a batch can be changed without writing them again.
  CREATE TABLE state.body (batch INTEGER PRIMARY KEY REFERENCES batch, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state.memo (batch INTEGER PRIMARY KEY REFERENCES batch ON DELETE CASCADE, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state.sent_job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, base_url TEXT NOT NULL, run TEXT NOT NULL, file TEXT NOT NULL,
    variant TEXT NOT NULL, rows INTEGER NOT NULL, at INTEGER NOT NULL, status TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'import', lines TEXT
  ) STRICT;
  CREATE INDEX state.sent_import_at ON sent_job (at);
  CREATE TABLE state.patch (
    run TEXT NOT NULL REFERENCES run (id), row INTEGER NOT NULL, line INTEGER NOT NULL, reference BLOB NOT NULL,
    product BLOB NOT NULL, is_done INTEGER NOT NULL DEFAULT 1, memo BLOB NOT NULL DEFAULT x'', PRIMARY KEY (run, row)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.change (
    run TEXT NOT NULL REFERENCES run (id), product BLOB NOT NULL, account INTEGER NOT NULL, batch INTEGER,
    reference BLOB NOT NULL, action TEXT NOT NULL, before TEXT, after BLOB NOT NULL, photos TEXT NOT NULL DEFAULT '',
    sources BLOB, is_undone INTEGER NOT NULL DEFAULT 0, detached TEXT NOT NULL DEFAULT '', moved TEXT NOT NULL DEFAULT '',
    exported BLOB, said BLOB, PRIMARY KEY (run, product)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.change_product ON change (account, product);
  CREATE INDEX state.change_batch ON change (run, batch) WHERE batch IS NOT NULL;

  CREATE TABLE state.ledger (
    account INTEGER NOT NULL, reference BLOB NOT NULL, product BLOB NOT NULL, fields BLOB NOT NULL, sources BLOB NOT NULL,
    images TEXT NOT NULL DEFAULT '', PRIMARY KEY (account, reference), UNIQUE (account, product)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.said_file (
    id INTEGER PRIMARY KEY, account INTEGER NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (account, place)
  ) STRICT;
  CREATE TABLE state.said (
    file INTEGER NOT NULL REFERENCES said_file, reference BLOB NOT NULL, product BLOB NOT NULL, exported BLOB NOT NULL,
    said BLOB NOT NULL, PRIMARY KEY (file, reference)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.said_product ON said (product);
  CREATE TABLE state.failure (
    file INTEGER NOT NULL REFERENCES said_file, reference BLOB NOT NULL, reason BLOB NOT NULL, runs INTEGER NOT NULL,
    run TEXT NOT NULL, PRIMARY KEY (file, reference)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.upload (
    account INTEGER NOT NULL, sha256 TEXT NOT NULL, key TEXT, begun_at INTEGER, image TEXT,
    PRIMARY KEY (account, sha256)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.mark (
    base_url TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (base_url, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.decision (
    base_url TEXT NOT NULL, task TEXT NOT NULL, run TEXT NOT NULL, decision TEXT NOT NULL, note TEXT NOT NULL,
    at INTEGER NOT NULL, reviewer TEXT NOT NULL DEFAULT '', PRIMARY KEY (base_url, task)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE state.look (
    batch INTEGER NOT NULL REFERENCES batch ON DELETE CASCADE, place INTEGER NOT NULL, account INTEGER NOT NULL,
    digest TEXT NOT NULL, task TEXT, status TEXT NOT NULL DEFAULT 'queued', replaces TEXT, PRIMARY KEY (batch, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.look_digest ON look (account, digest);
  CREATE INDEX state.look_task ON look (task) WHERE task IS NOT NULL;
  CREATE INDEX state.look_replaces ON look (account, replaces) WHERE replaces IS NOT NULL;
`;

type Migration = string | ((db: Database) => void);

/**
 * The migrations from each version to the next, in order; the first one turns an empty file into a state. A
 * released migration never changes, because existing files do not run it again. A new one also changes
 * `schema`.
 */
export const migrations: readonly Migration[] = [
  `
  CREATE TABLE state.account (
    id INTEGER PRIMARY KEY AUTOINCREMENT, base_url TEXT NOT NULL, looked_at INTEGER
  ) STRICT;
  CREATE TABLE state.account_key (
    base_url TEXT NOT NULL, fingerprint TEXT NOT NULL, account INTEGER NOT NULL REFERENCES account,
    PRIMARY KEY (base_url, fingerprint)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE state.run (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account INTEGER NOT NULL, identity TEXT NOT NULL,
    file TEXT NOT NULL, options TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT;
  CREATE INDEX state.run_open ON run (account, identity) WHERE ended_at IS NULL;
  -- The lock file that the owner has locked is named by the id, which never comes again.
  CREATE TABLE state.hold (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, identity TEXT NOT NULL, pid INTEGER NOT NULL,
    since INTEGER NOT NULL, UNIQUE (account, identity)
  ) STRICT;

  CREATE TABLE state.call (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES run (id), place INTEGER NOT NULL, account INTEGER NOT NULL,
    key TEXT NOT NULL, state TEXT NOT NULL, import_id TEXT, bytes INTEGER NOT NULL, digest BLOB NOT NULL,
    sent_at INTEGER NOT NULL, rows BLOB NOT NULL, lines BLOB NOT NULL, UNIQUE (run, place)
  ) STRICT;
  CREATE INDEX state.call_unsettled ON call (account) WHERE state <> 'settled';
  -- Bytes stand apart, so that they can be let go, and what is beside them be changed, without writing all of it anew.
  CREATE TABLE state.body (call INTEGER PRIMARY KEY REFERENCES call, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state.memo (call INTEGER PRIMARY KEY REFERENCES call ON DELETE CASCADE, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state.pending (
    account INTEGER NOT NULL, reference BLOB NOT NULL, call INTEGER NOT NULL REFERENCES call, place INTEGER NOT NULL,
    PRIMARY KEY (account, reference, call, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.pending_call ON pending (call, place);

  CREATE TABLE state.patch (
    run TEXT NOT NULL REFERENCES run (id), row INTEGER NOT NULL, line INTEGER NOT NULL, reference BLOB NOT NULL,
    product BLOB NOT NULL, PRIMARY KEY (run, row)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE state.ledger (
    account INTEGER NOT NULL, reference BLOB NOT NULL, product BLOB NOT NULL, fields BLOB NOT NULL, sources BLOB NOT NULL,
    PRIMARY KEY (account, reference), UNIQUE (account, product)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE state.upload (
    account INTEGER NOT NULL, sha256 TEXT NOT NULL, key TEXT, begun_at INTEGER, image TEXT,
    PRIMARY KEY (account, sha256)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE state.sent_import (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, base_url TEXT NOT NULL, run TEXT NOT NULL, file TEXT NOT NULL,
    mode TEXT NOT NULL, rows INTEGER NOT NULL, at INTEGER NOT NULL, status TEXT NOT NULL
  ) STRICT;
  CREATE INDEX state.sent_import_at ON sent_import (at);
  `,
  // A PATCH is recorded before it is sent, together with the report data of its row.
  `
  ALTER TABLE state.patch ADD COLUMN is_done INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE state.patch ADD COLUMN memo BLOB NOT NULL DEFAULT x'';
  `,
  // Later runs may have changed what a run imported.
  "ALTER TABLE state.account ADD COLUMN last_run TEXT",
  // Keys expire by the service's clock.
  "ALTER TABLE state.call ADD COLUMN sent_at_service INTEGER",
  // A service restored during an import is recognized by its newest product.
  "ALTER TABLE state.account ADD COLUMN seen_product BLOB",
  // Runs of several kinds: not only imports have batches and jobs.
  `
  ALTER TABLE state.run ADD COLUMN kind TEXT NOT NULL DEFAULT 'import';
  DROP INDEX state.run_open;
  CREATE INDEX state.run_open ON run (account, kind, identity) WHERE ended_at IS NULL;
  ALTER TABLE state.call RENAME TO batch;
  ALTER TABLE state.batch RENAME COLUMN import_id TO jobs;
  ALTER TABLE state.body RENAME COLUMN call TO batch;
  ALTER TABLE state.memo RENAME COLUMN call TO batch;
  ALTER TABLE state.pending RENAME COLUMN call TO batch;
  ALTER TABLE state.sent_import RENAME TO sent_job;
  ALTER TABLE state.sent_job RENAME COLUMN mode TO variant;
  ALTER TABLE state.sent_job ADD COLUMN kind TEXT NOT NULL DEFAULT 'import';
  `,
  `
  CREATE TABLE state.lost_reference (
    account INTEGER NOT NULL, reference BLOB NOT NULL, PRIMARY KEY (account, reference)
  ) STRICT, WITHOUT ROWID;
  `,
  // Small values that later commands need: where the last export ended, a webhook to remove.
  `
  CREATE TABLE state.mark (
    base_url TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (base_url, name)
  ) STRICT, WITHOUT ROWID;
  `,
  // One import at a time: a second one names the file of the first. A batch keeps its own references.
  `
  ALTER TABLE state.hold ADD COLUMN file TEXT NOT NULL DEFAULT '';
  ALTER TABLE state.batch ADD COLUMN refs TEXT NOT NULL DEFAULT '';
  UPDATE state.batch SET refs = coalesce((
    SELECT group_concat(' ' || hex(reference), '') FROM (
      SELECT reference FROM state.pending WHERE pending.batch = batch.number ORDER BY place
    )
  ), '') WHERE state <> 'settled';
  DROP TABLE state.pending;
  DROP TABLE state.lost_reference;
  `,
  // Results count the rows of an import; users know the lines of their file.
  "ALTER TABLE state.sent_job ADD COLUMN lines TEXT",
  // Reviews have effect on exports and on later runs.
  `
  CREATE TABLE state.decision (
    base_url TEXT NOT NULL, task TEXT NOT NULL, run TEXT NOT NULL, decision TEXT NOT NULL, note TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (base_url, task)
  ) STRICT, WITHOUT ROWID;
  `,
  // Sending it again does not tell the outcome of a batch whose key the service has had with another body.
  "ALTER TABLE state.batch ADD COLUMN is_key_taken INTEGER NOT NULL DEFAULT 0",
  // An import can be undone: what it changed, and how the products were before.
  `
  CREATE TABLE state.change (
    run TEXT NOT NULL REFERENCES run (id), product BLOB NOT NULL, account INTEGER NOT NULL, batch INTEGER,
    reference BLOB NOT NULL, action TEXT NOT NULL, before TEXT, after BLOB NOT NULL, photos TEXT NOT NULL DEFAULT '',
    sources BLOB, is_undone INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run, product)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.change_product ON change (account, product);
  CREATE INDEX state.change_batch ON change (run, batch) WHERE batch IS NOT NULL;
  `,
  // Three sides decide: the sheet, the service, and what the sheet said before.
  `
  ALTER TABLE state.ledger ADD COLUMN images TEXT NOT NULL DEFAULT '';
  ALTER TABLE state.change ADD COLUMN detached TEXT NOT NULL DEFAULT '';
  ALTER TABLE state.change ADD COLUMN moved TEXT NOT NULL DEFAULT '';
  CREATE TABLE state.said_file (
    id INTEGER PRIMARY KEY, account INTEGER NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (account, place)
  ) STRICT;
  CREATE TABLE state.said (
    file INTEGER NOT NULL REFERENCES said_file, reference BLOB NOT NULL, product BLOB NOT NULL, exported BLOB NOT NULL,
    said BLOB NOT NULL, PRIMARY KEY (file, reference)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.said_product ON said (product);
  CREATE TABLE state.failure (
    file INTEGER NOT NULL REFERENCES said_file, reference BLOB NOT NULL, reason BLOB NOT NULL, runs INTEGER NOT NULL,
    run TEXT NOT NULL, PRIMARY KEY (file, reference)
  ) STRICT, WITHOUT ROWID;
  -- The list of runs: who ran which command where, with which result.
  ALTER TABLE state.run ADD COLUMN who TEXT;
  ALTER TABLE state.run ADD COLUMN command TEXT;
  ALTER TABLE state.run ADD COLUMN base_url TEXT;
  ALTER TABLE state.run ADD COLUMN ledger TEXT;
  ALTER TABLE state.run ADD COLUMN exit INTEGER;
  ALTER TABLE state.run ADD COLUMN counts TEXT;
  ALTER TABLE state.run ADD COLUMN undone TEXT;
  UPDATE state.run SET undone = CASE WHEN EXISTS (
    SELECT 1 FROM state.change WHERE run = run.id AND action <> 'read' AND is_undone = 0
  ) THEN 'partly' ELSE 'yes' END
  WHERE EXISTS (SELECT 1 FROM state.change WHERE run = run.id AND is_undone = 1);
  `,
  // An undo restores what the row of the run's file said before.
  `
  ALTER TABLE state.change ADD COLUMN exported BLOB;
  ALTER TABLE state.change ADD COLUMN said BLOB;
  `,
  // Decisions of several reviewers come together in one list.
  "ALTER TABLE state.decision ADD COLUMN reviewer TEXT NOT NULL DEFAULT ''",
  // A look is paid once, whichever run has requested it.
  (db) => {
    db.execute(`
  CREATE TABLE state.look (
    batch INTEGER NOT NULL REFERENCES batch ON DELETE CASCADE, place INTEGER NOT NULL, account INTEGER NOT NULL,
    digest TEXT NOT NULL, task TEXT, status TEXT NOT NULL DEFAULT 'queued', replaces TEXT, PRIMARY KEY (batch, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.look_digest ON look (account, digest);
  CREATE INDEX state.look_task ON look (task) WHERE task IS NOT NULL;
  CREATE INDEX state.look_replaces ON look (account, replaces) WHERE replaces IS NOT NULL;
  `);
    fillLooks(db);
  },
];

/** Migrates a state completely or not at all. `steps` is `migrations` except in tests. */
export function migrate(db: Database, steps: readonly Migration[] = migrations): void {
  if (db.pragma("user_version") === steps.length) return;
  db.transaction(() => {
    // Checked again: another process may have migrated it meanwhile.
    const version = Number(db.pragma("user_version"));
    // The migrations would take 6 ms of the first import in a new container.
    const missing = version === 0 && steps === migrations ? [schema] : steps.slice(version);
    for (const step of missing)
      if (typeof step === "string") db.execute(step);
      else step(db);
    db.execute(`PRAGMA state.application_id = ${applicationId}; PRAGMA state.user_version = ${steps.length}`);
  });
}

/** Distinguishes a state of this program from other databases: "cata". */
export const applicationId = 0x63617461;
