import type { LedgerWithin } from "./ledger.ts";
import { type Database, fromKey, toKey } from "./sqlite.ts";

/** `read`: may be changed. `sent`: outcome unknown. `created`, `updated`: as the service reported. */
export type ChangeAction = "read" | "sent" | "created" | "updated";

export interface ProductChange {
  readonly productId: string;
  readonly reference: string;
  readonly action: ChangeAction;
  /** The product before the run, opaque here; null if it was not read, or did not exist. */
  readonly before: string | null;
  /** Digests of the fields that the run sets, opaque here. */
  readonly after: Uint8Array;
  readonly photos: readonly string[];
  readonly detached: readonly string[];
  /** The images to which it gave another side; which one was not kept by earlier versions. */
  readonly moved: readonly { readonly image: string; readonly side: string | undefined }[];
  /** Whether all of it was undone. */
  readonly isUndone: boolean;
}

export type ProductBefore = Pick<ProductChange, "productId" | "reference"> & { readonly before: string };

export type ChangeToSend = Pick<ProductChange, "productId" | "reference" | "after"> &
  Partial<Pick<ProductChange, "detached" | "moved">>;

export type ReportedChange = Pick<ProductChange, "productId" | "reference" | "after" | "photos"> & {
  readonly action: "created" | "updated";
};

/** The ledger's facts about a product whose change was undone, besides what rows said of it. */
export interface LedgerFacts {
  readonly isGone?: boolean;
  readonly fields?: Uint8Array;
}

/** The changes of runs, from which they can be undone. Every method is one transaction. */
export interface Changes {
  /** Keeps products as they are before the run changes them; not if it has changed them already. */
  read(account: number, runId: string, products: readonly ProductBefore[]): void;
  /** The digests of the fields that the run has set; null if it has sent no change of the product. */
  fieldsSet(runId: string, productId: string): Buffer | null;
  /** Takes back a rejected change of a product: `fields` were set before it, null for none. */
  rejected(runId: string, productId: string, fields: Uint8Array | null): void;
  /** The changes of a run, without products that were only read, in the order of their IDs. */
  of(runId: string): Iterable<ProductChange>;
  isUndone(runId: string): boolean;
  /** The newest later run of the account that changed the product and was not undone; null if none. */
  laterRun(account: number, runId: string, productId: string): { id: string; file: string } | null;
  /**
   * Records that a change was undone, completely or in part, and what the ledger knows now. What rows said of
   * the product is forgotten; once all is undone, the run's file says what it said before.
   */
  undone(account: number, runId: string, productId: string, isAll: boolean, ledger: LedgerFacts): void;
  /** Deletes what runs read of products that they did not change: a run that goes on reads again. */
  forgetRead(account: number): void;
  /** Deletes the changes of all runs but the last ones, and those of runs that began before a time. */
  forgetOld(account: number, kept: { readonly runs: number; readonly since: number }): void;
}

/** Changes within a transaction on a batch. */
export interface ChangesWithin {
  send(account: number, runId: string, batch: number | null, changes: readonly ChangeToSend[]): void;
  drop(runId: string, batch: number): void;
  /** The outcome of the batch stays unknown. */
  letGo(runId: string, batch: number): void;
  report(account: number, runId: string, batch: number, changes: readonly ReportedChange[]): void;
}

type ChangeRow = [
  product: Buffer,
  reference: Buffer,
  action: ChangeAction,
  before: string | null,
  after: Buffer,
  photos: string,
  detached: string,
  moved: string,
  isUndone: number,
];

const toIds = (text: string): string[] => (text === "" ? [] : text.split(" "));

const toChange = ([
  product,
  reference,
  action,
  before,
  after,
  photos,
  detached,
  moved,
  isUndone,
]: ChangeRow): ProductChange => ({
  productId: fromKey(product),
  reference: fromKey(reference),
  action,
  before,
  after,
  photos: toIds(photos),
  detached: toIds(detached),
  moved: toIds(moved).map((text) => {
    const [image = "", side] = text.split("/");
    return { image, side };
  }),
  isUndone: isUndone === 1,
});

const nothing = new Uint8Array();

/** The changes of a state; `send`, `drop` and `report` write within an open transaction. */
export function storedChanges(db: Database, ledger: LedgerWithin): Changes & ChangesWithin {
  const read = db.statement(
    `INSERT INTO change (account, run, product, reference, action, before, after) VALUES (?, ?, ?, ?, 'read', ?, ?)
     ON CONFLICT DO UPDATE SET before = excluded.before, reference = excluded.reference WHERE action = 'read'`,
  );
  const of = db.statement<ChangeRow>(
    `SELECT product, reference, action, before, after, photos, detached, moved, is_undone FROM change
     WHERE run = ? AND action <> 'read' AND product > ? ORDER BY product LIMIT 1000`,
  );
  const later = db.statement<[id: string, file: string]>(
    `SELECT run.id, run.file FROM change JOIN run ON run.id = change.run JOIN run AS own ON own.id = ?2
     WHERE change.account = ?1 AND change.product = ?3 AND run.number > own.number
       AND change.action <> 'read' AND change.is_undone = 0
     ORDER BY run.number DESC LIMIT 1`,
  );
  const anyUndone = db.statement("SELECT 1 FROM change WHERE run = ? AND is_undone = 1 LIMIT 1");
  const undo = db.statement("UPDATE change SET is_undone = 1 WHERE run = ? AND product = ?");
  // Until the undo has come to its end.
  const undonePartly = db.statement("UPDATE run SET undone = 'partly' WHERE id = ? AND undone IS NULL");
  const send = db.statement(
    `INSERT INTO change (account, run, batch, product, reference, action, after, detached, moved)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET batch = excluded.batch, action = excluded.action, reference = excluded.reference,
       after = excluded.after, detached = trim(detached || ' ' || excluded.detached),
       moved = trim(moved || ' ' || excluded.moved)`,
  );
  const fileOf = db.statement<[number]>(
    `SELECT said_file.id FROM run JOIN said_file
       ON said_file.account = run.account AND said_file.place = json_extract(run.options, '$.place')
     WHERE run.id = ?`,
  );
  // Before the first change of the run: later, the row has said what it says now.
  const keepSaid = db.statement(
    `UPDATE change SET exported = said.exported, said = said.said FROM said
     WHERE change.run = ?1 AND change.product = ?2 AND change.action = 'read'
       AND said.file = ?3 AND said.reference = ?4 AND said.product = ?2`,
  );
  const restoreSaid = db.statement(
    `INSERT OR REPLACE INTO said (file, reference, product, exported, said)
     SELECT ?3, reference, product, exported, said FROM change WHERE run = ?1 AND product = ?2 AND said IS NOT NULL`,
  );
  const drop = db.statement("DELETE FROM change WHERE run = ? AND batch = ?");
  const reject = db.statement("DELETE FROM change WHERE run = ? AND product = ?");
  const reset = db.statement("UPDATE change SET after = ? WHERE run = ? AND product = ?");
  const fieldsSet = db.statement<[Buffer]>(
    "SELECT after FROM change WHERE run = ? AND product = ? AND action <> 'read'",
  );
  const letGo = db.statement("UPDATE change SET batch = NULL WHERE run = ? AND batch = ?");
  const report = db.statement(
    `INSERT INTO change (account, run, product, reference, action, after, photos) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET batch = NULL, action = excluded.action, reference = excluded.reference,
       after = excluded.after, photos = excluded.photos`,
  );
  const forgetRead = db.statement("DELETE FROM change WHERE account = ? AND action = 'read'");
  const forgetOld = db.statement(
    `DELETE FROM change WHERE account = ?1 AND run IN (
       SELECT id FROM run WHERE account = ?1 AND ended_at IS NOT NULL AND (started_at < ?2 OR number NOT IN (
         SELECT DISTINCT run.number FROM run JOIN change ON change.run = run.id
         WHERE change.account = ?1 AND change.action <> 'read' ORDER BY run.number DESC LIMIT ?3)))`,
  );
  return {
    read(account, runId, products) {
      db.transaction(() => {
        for (const { productId, reference, before } of products)
          read.run(account, runId, toKey(productId), toKey(reference), before, nothing);
      });
    },
    fieldsSet: (runId, productId) => fieldsSet.get(runId, toKey(productId))?.[0] ?? null,
    rejected: (runId, productId, fields) =>
      void (fields === null
        ? reject.run(runId, toKey(productId))
        : reset.run(fields, runId, toKey(productId))),
    *of(runId) {
      let last: Uint8Array = nothing;
      while (true) {
        const rows = of.all(runId, last);
        yield* rows.map(toChange);
        if (rows.length === 0) return;
        last = rows.at(-1)![0];
      }
    },
    isUndone: (runId) => anyUndone.get(runId) !== undefined,
    laterRun(account, runId, productId) {
      const [id, file] = later.get(account, runId, toKey(productId)) ?? [];
      return id === undefined ? null : { id, file: file! };
    },
    undone(account, runId, productId, isAll, { isGone = false, fields }) {
      db.transaction(() => {
        if (isAll) undo.run(runId, toKey(productId));
        undonePartly.run(runId);
        ledger.forgetSaid(account, productId);
        const [file] = (isAll && fileOf.get(runId)) || [];
        if (file !== undefined) restoreSaid.run(runId, toKey(productId), file);
        if (isGone) ledger.remove(account, productId);
        else if (fields !== undefined) ledger.see(account, { productId, fields });
      });
    },
    forgetRead: (account) => void forgetRead.run(account),
    forgetOld: (account, { runs, since }) => void forgetOld.run(account, since, runs),
    send(account, runId, batch, changes) {
      const action = batch === null ? "updated" : "sent";
      const [file] = fileOf.get(runId) ?? [];
      for (const { productId, reference, after, detached = [], moved = [] } of changes) {
        const keys = [toKey(productId), toKey(reference)] as const;
        if (file !== undefined) keepSaid.run(runId, keys[0], file, keys[1]);
        const sides = moved.map(({ image, side }) => `${image}/${side}`);
        send.run(account, runId, batch, ...keys, action, after, detached.join(" "), sides.join(" "));
      }
    },
    drop: (runId, batch) => void drop.run(runId, batch),
    letGo: (runId, batch) => void letGo.run(runId, batch),
    report(account, runId, batch, changes) {
      for (const { productId, reference, action, after, photos } of changes)
        report.run(account, runId, toKey(productId), toKey(reference), action, after, photos.join(" "));
      // Their rows failed, so they changed nothing.
      drop.run(runId, batch);
    },
  };
}
