import { parseJson } from "../json.ts";
import { forgetOldRuns, sentNothing } from "./retention.ts";
import type { RunHold, RunOwner, runHolds } from "./runs.ts";
import type { Database } from "./sqlite.ts";

/** Who gave a command, and where. */
export interface RunOrigin {
  /** `USER@HOST`; null if neither is known. */
  readonly who: string | null;
  readonly folder: string;
  /** The words of the command line, without secrets. */
  readonly typed: readonly string[];
}

export interface ListedRun {
  readonly id: string;
  readonly kind: string;
  /** The file or folder as typed. */
  readonly file: string;
  readonly baseUrl: string | null;
  /** The process that worked on it last; null for a run of an earlier version. */
  readonly origin: RunOrigin | null;
  /** The path of the ledger that has its progress; null for the state of the profile. */
  readonly ledger: string | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Null for a run that is open. */
  readonly endedAt: number | null;
  /** The exit status of its last process; null if that was killed, or still works. */
  readonly exit: number | null;
  readonly counts: Readonly<Record<string, number>> | null;
  /** How far its changes were undone; null if nothing of it was. */
  readonly undone: "partly" | "yes" | null;
  readonly isUndoable: boolean;
  readonly isRunning: boolean;
  /** Whether the same command resumes it: not once ended, or rejected before it sent anything. */
  readonly isUnfinished: boolean;
}

/** The runs of all kinds of this machine, or of a ledger. */
export interface RunList {
  /** Records who works on a run now; it has no exit status until it ends. */
  begin(id: string, origin: RunOrigin): void;
  /** Records the exit status of a process, and what it counted; null keeps the counts of an earlier one. */
  end(id: string, result: { exit: number; counts: ListedRun["counts"]; endedAt: number }): void;
  /** Adds a run whose progress is kept in a ledger, or that has none; replaces what the list had of it. */
  add(run: ListedRun): void;
  /** Has an added run listed as running, until released or the process ends; null if it cannot be. */
  hold(id: string, owner: RunOwner): RunHold | null;
  /** Removes a run that was added. */
  remove(id: string): void;
  /** Records how far the changes of a run were undone. */
  undone(id: string): void;
  get(id: string): ListedRun | null;
  /** The newest first; with `since`, only those that started or ended since then, or are open. */
  all(since?: number): Iterable<ListedRun>;
}

type ListedRow = [
  id: string,
  kind: string,
  file: string,
  baseUrl: string | null,
  who: string | null,
  command: string | null,
  ledger: string | null,
  startedAt: number,
  endedAt: number | null,
  exit: number | null,
  counts: string | null,
  undone: ListedRun["undone"],
  isUndoable: number,
  hasSent: number,
  account: number,
  isReplaced: number,
];

const page = 500;

/** The exit statuses of a command that stopped on its way: no service was reached, or an interrupt. */
const resumable: ReadonlySet<number> = new Set([7, 129, 130, 143]);

/** No account: the run is not one of this state. */
const elsewhere = 0;

/** The list of runs of a state; `holds` of its file, if any. */
export function storedRunList(
  db: Database,
  holds: Pick<ReturnType<typeof runHolds>, "hold" | "isHeld"> | null = null,
): RunList {
  const columns = `run.id, run.kind, run.file, coalesce(run.base_url, account.base_url), run.who, run.command, run.ledger,
    run.started_at, run.ended_at, run.exit, run.counts, run.undone,
    EXISTS (SELECT 1 FROM change WHERE change.run = run.id AND action <> 'read' AND is_undone = 0),
    EXISTS (SELECT 1 FROM batch WHERE batch.run = run.id) OR EXISTS (SELECT 1 FROM patch WHERE patch.run = run.id),
    run.account, run.ended_at IS NULL AND EXISTS (SELECT 1 FROM run AS later WHERE later.number > run.number
      AND later.kind = run.kind AND later.file = run.file AND later.command ->> 'folder' IS run.command ->> 'folder'
      AND (later.account = run.account AND later.ledger IS run.ledger OR run.account = ${elsewhere} AND run.ledger IS NULL))`;
  const from = "run LEFT JOIN account ON account.id = run.account";
  const get = db.statement<ListedRow>(`SELECT ${columns} FROM ${from} WHERE run.id = ?`);
  const after = db.statement<ListedRow>(
    `SELECT ${columns} FROM ${from} WHERE (run.started_at, run.number) < (?1, coalesce((SELECT number FROM run WHERE id = ?2), 9e15))
     AND (run.started_at >= ?3 OR coalesce(run.ended_at >= ?3, TRUE))
     ORDER BY run.started_at DESC, run.number DESC LIMIT ${page}`,
  );
  const begin = db.statement("UPDATE run SET who = ?, command = ?, exit = NULL WHERE id = ?");
  const end = db.statement("UPDATE run SET exit = ?, counts = coalesce(?, counts) WHERE id = ?");
  // An import that failed before it sent anything has nothing to resume: the next one must not take its place in the
  // list. An open run of generations says that none has begun since the last one.
  const close = db.statement(
    `UPDATE run SET identity = '', ended_at = ? WHERE id = ? AND exit <> 0 AND ended_at IS NULL AND kind = 'import' AND ${sentNothing}`,
  );
  const add = db.statement(
    `INSERT INTO run (id, account, kind, identity, file, options, started_at, ended_at, who, command, base_url, ledger, exit,
       counts, undone) VALUES (?, ${elsewhere}, ?, '', ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, base_url = excluded.base_url, who = excluded.who, command = excluded.command,
       exit = excluded.exit, counts = excluded.counts, undone = excluded.undone WHERE account = ${elsewhere}`,
  );
  const remove = db.statement(`DELETE FROM run WHERE id = ? AND account = ${elsewhere}`);
  const undone = db.statement(
    `UPDATE run SET undone = CASE
       WHEN EXISTS (SELECT 1 FROM change WHERE change.run = run.id AND action <> 'read' AND is_undone = 0)
       THEN 'partly' ELSE 'yes' END
     WHERE id = ? AND EXISTS (SELECT 1 FROM change WHERE change.run = run.id AND is_undone = 1)`,
  );
  const toListed = ([
    id,
    kind,
    file,
    baseUrl,
    who,
    command,
    ledger,
    startedAt,
    endedAt,
    ...rest
  ]: ListedRow) => {
    const [exit, counts, undone, isUndoable, hasSent, account, isReplaced] = rest;
    const mayResume = exit === null || resumable.has(exit) || hasSent === 1 || account === elsewhere;
    return {
      id,
      kind,
      file,
      baseUrl,
      origin: command === null ? null : { who, ...(parseJson(command) as Omit<RunOrigin, "who">) },
      ledger,
      startedAt,
      endedAt,
      exit,
      counts: counts === null ? null : (parseJson(counts) as ListedRun["counts"]),
      undone,
      isUndoable: isUndoable === 1,
      isRunning: endedAt === null && holds?.isHeld(account, account === elsewhere ? id : file) === true,
      isUnfinished: endedAt === null && mayResume && isReplaced === 0,
    };
  };
  const forgetOld = forgetOldRuns(db);
  const toCommand = ({ folder, typed }: RunOrigin): string => JSON.stringify({ folder, typed });
  return {
    begin: (id, origin) => void begin.run(origin.who, toCommand(origin), id),
    end(id, { exit, counts, endedAt }) {
      end.run(exit, counts && JSON.stringify(counts), id);
      close.run(endedAt, id);
    },
    add(run) {
      const { id, kind, file, startedAt, origin } = run;
      const endedAt = run.endedAt ?? (run.isUnfinished ? null : startedAt);
      const by = [origin?.who ?? null, origin && toCommand(origin)] as const;
      const counts = run.counts && JSON.stringify(run.counts);
      const result = [run.baseUrl, run.ledger, run.exit, counts, run.undone] as const;
      add.run(id, kind, file, startedAt, endedAt, ...by, ...result);
      forgetOld();
    },
    hold(id, owner) {
      const hold = holds?.hold(elsewhere, id, { ...owner, file: id });
      return hold !== undefined && "release" in hold ? hold : null;
    },
    remove: (id) => void remove.run(id),
    undone: (id) => void undone.run(id),
    get(id) {
      const row = get.get(id);
      return row === undefined ? null : toListed(row);
    },
    *all(since = Number.MIN_SAFE_INTEGER) {
      for (let [at, last] = [Number.MAX_SAFE_INTEGER, ""]; ; ) {
        const rows = after.all(at, last, since);
        yield* rows.map(toListed);
        const end = rows.at(-1);
        if (end === undefined) return;
        [at, last] = [end[7], end[0]];
      }
    },
  };
}
