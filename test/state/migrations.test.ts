import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrate, migrations } from "../../src/state/migrations.ts";
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

test("a new file has the tables that the migrations make", async () => {
  const tables = (db: Database) =>
    db
      .statement(
        "SELECT sql FROM state.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all()
      .map(([sql]) =>
        String(sql)
          .replace(/"/g, "")
          .replace(/\s+/g, " ")
          .replace(/ (?=[,)])/g, ""),
      );
  const fresh = await database();
  migrate(fresh);
  const migrated = await database();
  migrate(migrated, [...migrations]);
  expect(tables(fresh)).toHaveLength(27);
  expect(tables(fresh)).toEqual(tables(migrated));
  expect(versionOf(fresh)).toEqual(versionOf(migrated));
});
