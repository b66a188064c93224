import { expect, test } from "vitest";
import type { Database } from "../../../../../src/state/sqlite.ts";
import { s3Server } from "../../../../support/s3-server.ts";
import { mirrorWorld } from "../mirror-world.ts";
import { machinesAt } from "./conditions-contract.ts";

/** A mirror of 130 images in a store; `log` has its uploads and the changes of its table, in order. */
async function mirrored() {
  const { run, newMirror, catalogue } = mirrorWorld();
  for (let number = 0; number < 65; number++) catalogue.add(`A-${number}`, ["source", "tryon"]);
  const log: string[] = [];
  const store = await s3Server();
  store.faults.instead = (method, key) => {
    if (method === "PUT") log.push(`put ${key}`);
    return null;
  };
  const open = machinesAt({ endpoint: store.origin, env: store.env(store.origin), prefix: "" });
  const mirror = open();
  const own = mirror.database.bind(mirror);
  const logged = (db: Database): Database => ({
    ...db,
    execute(sql) {
      if (sql === "BEGIN") log.push("begin");
      db.execute(sql);
    },
    statement(sql) {
      const statement = db.statement<never>(sql);
      const run: typeof statement.run = (...values) => {
        if (sql === "COMMIT") log.push("commit");
        if (sql.startsWith("INSERT OR REPLACE INTO entry"))
          log.push(`row ${JSON.parse(String(values[4])).path}`);
        return statement.run(...values);
      };
      return { ...statement, run };
    },
  });
  mirror.database = async (path, options) => logged(await own(path, options));
  const outcome = await run(newMirror(), {}, { store: mirror });
  return { log, outcome };
}

test("rows of a table in a bucket share transactions, and each follows its object; the index is last", async () => {
  const { log, outcome } = await mirrored();
  expect(outcome).toMatchObject({ stopped: undefined, summary: { added: 130, failed: 0 } });
  const images = log.flatMap((line) => (line.startsWith("row ") ? [line.slice(4)] : []));
  expect(new Set(images).size).toBe(130);
  for (const image of images) {
    const at = [`put ${image}`, `row ${image}`].map((line) => log.indexOf(line));
    expect([image, at[0]! >= 0, at[0]! < at[1]!]).toEqual([image, true, true]);
  }
  // A run that is killed before the index finds its objects by the journal.
  expect(log.findIndex((line) => /^put \S+journal/.test(line))).toBeLessThan(log.indexOf(`put ${images[0]}`));
  const index = log.indexOf("put catalogue.ndjson");
  expect(index).toBeGreaterThan(Math.max(...images.map((image) => log.indexOf(`row ${image}`))));
  expect(log.filter((line) => line === "commit").length).toBeLessThanOrEqual(Math.ceil(130 / 64) + 2);
  expect(log.filter((line) => line === "begin").length).toBe(log.filter((line) => line === "commit").length);
});
