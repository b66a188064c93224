import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/state/migrations.ts";
import { type Database, loadConnect } from "../../src/state/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const steps = [
  "CREATE TABLE state.product (reference TEXT)",
  "ALTER TABLE state.product ADD COLUMN name TEXT; UPDATE state.product SET name = 'of ' || reference",
] as const;

async function database(path = join(temporaryFolder(), "default.db")): Promise<Database> {
  const db = (await loadConnect())(path);
  onTestFinished(() => db.close());
  return db;
}

const versionOf = (db: Database) => [db.pragma("user_version"), db.pragma("application_id")];

test("an older file goes through the missing migrations, and keeps its data", async () => {
  const db = await database();
  migrate(db, steps.slice(0, 1));
  db.execute("INSERT INTO product VALUES ('SKU-1')");
  expect(versionOf(db)).toEqual([1, 0x63617461]);
  migrate(db, steps);
  expect(versionOf(db)).toEqual([2, 0x63617461]);
  expect(db.statement("SELECT * FROM product").all()).toEqual([["SKU-1", "of SKU-1"]]);
  migrate(db, steps);
  expect(db.statement("SELECT * FROM product").all()).toEqual([["SKU-1", "of SKU-1"]]);
});

test("a failing migration leaves the file unchanged", async () => {
  const path = join(temporaryFolder(), "default.db");
  const db = await database(path);
  migrate(db, steps.slice(0, 1));
  db.execute("INSERT INTO product VALUES ('SKU-1')");
  expect(() => migrate(db, [...steps, "DROP TABLE state.missing"])).toThrow("no such table: state.missing");
  // A second connection reads the content of the file.
  const again = await database(path);
  expect(versionOf(again)).toEqual([1, 0x63617461]);
  expect(again.statement("SELECT * FROM product").all()).toEqual([["SKU-1"]]);
  migrate(again, steps);
  expect(again.statement("SELECT * FROM product").all()).toEqual([["SKU-1", "of SKU-1"]]);
});
