import { createHash } from "node:crypto";
import { parseJson } from "../json.ts";
import type { Database } from "./sqlite.ts";

/** The settings of an image: two images with the same ones are of one look. */
export interface LookSettings {
  readonly productId: string;
  /** Null for a beautified shot. */
  readonly modelId: string | null;
  /** IDs; their order does not count. */
  readonly stylings: readonly string[];
  readonly background: string;
  readonly angleShot: string;
  readonly lookAtCamera: boolean;
  /** Null for a try-on. */
  readonly subtype: string | null;
  readonly style: string | null;
}

/** A digest of a look. Colors are the same in either case. */
export function lookDigest(look: LookSettings): string {
  const { productId, modelId, stylings, background, angleShot, lookAtCamera, subtype, style } = look;
  const worn = [...new Set(stylings)].sort();
  const parts = [productId, modelId, worn, background.toLowerCase(), angleShot, lookAtCamera, subtype, style];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** An image that was requested from this machine. */
export interface LookImage {
  readonly run: string;
  /** Whether the request got no response so far: the service may have it. */
  readonly isUnanswered: boolean;
  /** Null as long as no response told it. */
  readonly task: string | null;
  /** `queued` until a command has seen the end of the task. */
  readonly status: "queued" | "succeeded" | "failed";
  readonly isRejected: boolean;
}

/** An image of a batch, which is recorded with it. */
export interface ClaimedLook {
  readonly digest: string;
  /** The task whose rejected image it replaces; null for none. */
  readonly replaces: string | null;
  /** Whether another run may have generated the same look. */
  readonly isShared: boolean;
}

/** The looks that the runs of this machine have requested, with their tasks. */
export interface Looks {
  /** The images of a look, newest first. */
  of(account: number, digest: string): LookImage[];
  /** The images that replace the rejected one of a task, newest first. */
  replacing(account: number, task: string): LookImage[];
  /** The look of a task; null for a task of another machine. */
  digestOf(task: string): string | null;
  /** Records the tasks that have ended, in one transaction. */
  ended(tasks: readonly { readonly id: string; readonly status: string }[]): void;
}

/** Adds the images of all runs that were begun before the table existed. */
export function fillLooks(db: Database): void {
  const { add } = writeLooks(db);
  const batches = db.statement<[number: number, account: number, jobs: string | null, memo: Buffer]>(
    `SELECT batch.number, batch.account, batch.jobs, memo.bytes FROM batch JOIN run ON run.id = batch.run
     JOIN memo ON memo.batch = batch.number WHERE run.kind IN ('tryon', 'beautify') ORDER BY batch.number`,
  );
  for (const [number, account, jobs, memo] of batches.all()) {
    const looks = parseJson(memo.toString()) as (LookSettings & { replaces?: string })[];
    const tasks = (jobs ?? "").split(" ");
    for (const [place, look] of looks.entries())
      add.run(number, place, account, lookDigest(look), tasks[place] || null, look.replaces ?? null);
  }
}

const writeLooks = (db: Database) => ({
  add: db.statement(
    "INSERT INTO look (batch, place, account, digest, task, replaces) VALUES (?, ?, ?, ?, ?, ?)",
  ),
  accept: db.statement("UPDATE look SET task = ? WHERE batch = ? AND place = ?"),
});

/** Writes within an open transaction, together with a batch. */
export interface LooksWithin {
  /** An image that another run has claimed; null if none is. */
  findClaimed(account: number, run: string, looks: readonly ClaimedLook[]): string | null;
  add(account: number, batch: number, looks: readonly ClaimedLook[]): void;
  accept(batch: number, tasks: readonly string[]): void;
}

type ImageRow = [
  run: string,
  state: string,
  task: string | null,
  status: LookImage["status"],
  isRejected: number,
];

export function storedLooks(db: Database): Looks & LooksWithin {
  const images = (where: string) =>
    db.statement<ImageRow>(
      `SELECT batch.run, batch.state, look.task, look.status, EXISTS (
         SELECT 1 FROM decision JOIN account ON account.base_url = decision.base_url
         WHERE account.id = look.account AND decision.task = look.task AND decision.decision = 'reject')
       FROM look JOIN batch ON batch.number = look.batch
       WHERE look.account = ? AND ${where} ORDER BY look.batch DESC, look.place DESC`,
    );
  const [ofDigest, replacing] = [images("look.digest = ?"), images("look.replaces = ?")];
  const digestOf = db.statement<[string]>("SELECT digest FROM look WHERE task = ?");
  const end = db.statement("UPDATE look SET status = ?1 WHERE task = ?2 AND status <> ?1");
  const { add, accept } = writeLooks(db);
  const toImage = ([run, state, task, status, isRejected]: ImageRow): LookImage => ({
    run,
    isUnanswered: state === "sent",
    task,
    status,
    isRejected: isRejected === 1,
  });
  const looks: Looks = {
    of: (account, digest) => ofDigest.all(account, digest).map(toImage),
    replacing: (account, task) => replacing.all(account, task).map(toImage),
    digestOf: (task) => digestOf.get(task)?.[0] ?? null,
    ended(tasks) {
      if (tasks.length === 0) return;
      db.transaction(() => {
        for (const { id, status } of tasks) end.run(status, id);
      });
    },
  };
  return {
    ...looks,
    findClaimed(account, run, claimed) {
      for (const { digest, replaces, isShared } of claimed) {
        const counts = ({ isRejected, task }: LookImage) =>
          !isRejected && (task === null || task !== replaces);
        const same = isShared ? [] : looks.of(account, digest).filter(counts);
        const others = [...same, ...(replaces === null ? [] : looks.replacing(account, replaces))];
        if (others.some((image) => image.run !== run && image.status !== "failed")) return digest;
      }
      return null;
    },
    add(account, batch, claimed) {
      for (const [place, { digest, replaces }] of claimed.entries())
        add.run(batch, place, account, digest, null, replaces);
    },
    accept(batch, tasks) {
      for (const [place, task] of tasks.entries()) accept.run(task, batch, place);
    },
  };
}
