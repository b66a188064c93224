import type { Database } from "./sqlite.ts";

/** Small texts by base URL and name for later commands of the profile, e.g. where the last export ended. */
export interface Marks {
  /** The value of a mark; null if it was never set. */
  get(baseUrl: string, name: string): string | null;
  set(baseUrl: string, name: string, value: string): void;
  /** Sets a mark unless its value sorts after the new one, which another process may have set meanwhile. */
  raise(baseUrl: string, name: string, value: string): void;
  /** Adds to a number, 0 where it was never set; returns false and adds nothing if that is above `most`. */
  add(baseUrl: string, name: string, amount: number, most: number): boolean;
  remove(baseUrl: string, name: string): void;
  /** The marks of a base URL whose names start with the prefix, by name. */
  list(baseUrl: string, prefix: string): { readonly name: string; readonly value: string }[];
}

export function storedMarks(db: Database): Marks {
  const get = db.statement<[string]>("SELECT value FROM mark WHERE base_url = ? AND name = ?");
  const set = db.statement("INSERT OR REPLACE INTO mark (base_url, name, value) VALUES (?, ?, ?)");
  const raise = db.statement(
    "INSERT INTO mark (base_url, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value WHERE excluded.value > value",
  );
  // One statement, because several processes add.
  const add = db.statement(
    `INSERT INTO mark (base_url, name, value) SELECT ?1, ?2, ?3 WHERE ?3 <= ?4 ON CONFLICT DO UPDATE
     SET value = value + excluded.value WHERE value + excluded.value <= ?4`,
  );
  const remove = db.statement("DELETE FROM mark WHERE base_url = ? AND name = ?");
  const list = db.statement<[string, string]>(
    "SELECT name, value FROM mark WHERE base_url = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
  );
  return {
    get: (baseUrl, name) => get.get(baseUrl, name)?.[0] ?? null,
    set: (baseUrl, name, value) => void set.run(baseUrl, name, value),
    raise: (baseUrl, name, value) => void raise.run(baseUrl, name, value),
    add: (baseUrl, name, amount, most) => add.run(baseUrl, name, amount, most) === 1,
    remove: (baseUrl, name) => void remove.run(baseUrl, name),
    list: (baseUrl, prefix) => [...list.all(baseUrl, prefix)].map(([name, value]) => ({ name, value })),
  };
}
