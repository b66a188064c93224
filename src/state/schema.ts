/** The tables of a state. A new file gets them in one step; the migrations (./migrations.ts) bring an older file to the same. */
export const schema = `
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
    kind TEXT NOT NULL DEFAULT 'import'
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
    sources BLOB, is_undone INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run, product)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX state.change_product ON change (account, product);
  CREATE INDEX state.change_batch ON change (run, batch) WHERE batch IS NOT NULL;

  CREATE TABLE state.ledger (
    account INTEGER NOT NULL, reference BLOB NOT NULL, product BLOB NOT NULL, fields BLOB NOT NULL, sources BLOB NOT NULL,
    PRIMARY KEY (account, reference), UNIQUE (account, product)
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
    at INTEGER NOT NULL, PRIMARY KEY (base_url, task)
  ) STRICT, WITHOUT ROWID;
`;
