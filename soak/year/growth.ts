import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import type { Scene } from "./scene.ts";

/** What a night has left, and what it took. */
export type Size = Readonly<Record<string, unknown>>;

function bytesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

export function sizeOf({ server, ann, ben, hooks, store }: Scene, hasTables: boolean): Size {
  const bucketState = [...store.objects].filter(
    ([key]) => key.startsWith("year/.catalogue/") || key.startsWith("year/catalogue."),
  );
  return {
    state_server: bytesOf(server.at("home/state")),
    state_ann: bytesOf(ann.at("home/state")),
    state_ben: bytesOf(ben.at("home/state")),
    // Compiled code of the program, one for each version.
    kept_code: bytesOf(server.home) - bytesOf(server.at("home/state")),
    state_hooks: bytesOf(hooks.at("home/state")),
    folder_server:
      bytesOf(server.folder) -
      bytesOf(server.at("mirror")) -
      bytesOf(server.at("photos")) -
      bytesOf(server.at("home")) -
      bytesOf(server.at("poll.ndjson")),
    log_events: bytesOf(hooks.at("events.ndjson")),
    log_polled: bytesOf(server.at("poll.ndjson")),
    mirror_files: bytesOf(server.at("mirror")),
    mirror_state: bytesOf(server.at("mirror/.catalogue-sync")),
    mirror_decisions: bytesOf(server.at("mirror/decisions.csv")),
    ...(hasTables && {
      tables_server: tablesOf(server.at("home/state/default.db")),
      tables_ann: tablesOf(ann.at("home/state/default.db")),
    }),
    bucket_objects: store.objects.size,
    bucket_state: bucketState.reduce((sum, [, { body }]) => sum + body.length, 0),
  };
}

/** The rows of each table of a state. */
function tablesOf(state: string): Record<string, number> {
  if (!existsSync(state)) return {};
  const db = new Libsql(state, { readonly: true } as never);
  try {
    const all = db
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all() as { name: string }[];
    return Object.fromEntries(
      all.map(({ name }) => [
        name,
        (db.prepare(`SELECT count(*) AS n FROM "${name}"`).get() as { n: number }).n,
      ]),
    );
  } finally {
    db.close();
  }
}
