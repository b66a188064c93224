import Libsql from "libsql";
import { onTestFinished } from "vitest";

/** What happens around each statement that this process sends to SQLite; what `before` throws keeps it from being sent. */
export interface AroundStatements {
  before?(sql: string): void;
  after?(sql: string): void;
}

type Call = (this: object, ...args: unknown[]) => unknown;

const connections = Libsql.prototype as unknown as Record<"prepare" | "exec", Call>;
const statements = Object.getPrototypeOf(new Libsql(":memory:").prepare("SELECT 1")) as Record<
  "run" | "get" | "all",
  Call
>;
const { prepare, exec } = connections;
const { run, get, all } = statements;
const sqlOf = new WeakMap<object, string>();

function around(call: Call, { before, after }: AroundStatements): Call {
  return function (...args) {
    const sql = sqlOf.get(this) ?? String(args[0]);
    // As after a kill, or it could not be closed.
    if (sql.startsWith("DETACH") && (this as Libsql.Database).inTransaction) exec.call(this, "ROLLBACK");
    before?.(sql);
    const result = call.apply(this, args);
    after?.(sql);
    return result;
  };
}

/** Acts around statements until the test is over, or until the next call. */
export function aroundStatements(hooks: AroundStatements): void {
  connections.prepare = function (sql) {
    const statement = prepare.call(this, sql) as object;
    sqlOf.set(statement, String(sql));
    return statement;
  };
  connections.exec = around(exec, hooks);
  Object.assign(statements, { run: around(run, hooks), get: around(get, hooks), all: around(all, hooks) });
  onTestFinished(() => {
    Object.assign(connections, { prepare, exec });
    Object.assign(statements, { run, get, all });
  });
}

/** The error of SQLite on a full disk. */
export const diskFull = (): Error => Object.assign(new Error("database or disk is full"), { rawCode: 13 });
