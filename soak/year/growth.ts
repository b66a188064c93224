import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import type { Scene } from "./scene.ts";

/** What a night has left, and what it took. */
export type Size = Readonly<Record<string, unknown>>;

/** How much more the last month may have than the first one: a factor, and so many for each night between. */
type Limit = readonly [factor: number, perNight: number];

/** Reviews, jobs and runs are kept for good, or for 1,000 runs; all else has the size of the catalogue. */
const limits: Readonly<Record<string, Limit>> = {
  // Coverage reads a page more for each 100 images that were ever generated.
  ...{ requests: [1.3, 0.06], memory: [1.25, 0], cpu_ms: [1.6, 0] },
  ...{ state_server: [1, 1_200], state_ann: [1, 1_200], state_ben: [1, 1_200], state_hooks: [1, 500] },
  ...{ folder_server: [1, 100], mirror_files: [1.4, 0], mirror_state: [1.3, 0] },
  ...{ mirror_decisions: [1, 400], bucket_objects: [1.4, 0], bucket_state: [1.4, 0] },
};

/** The nights of a month: the first and the last one are compared. */
export const month = 30;

/** What grew more than it may from the first month of a year to its last one, by their medians. */
export function grown(sizes: Readonly<Record<number, Size>>): string[] {
  const nights = Object.values(sizes);
  if (nights.length < 4 * month) return [];
  return Object.entries(limits).flatMap(([name, [factor, perNight]]) => {
    // The first nights fill an empty catalogue, and empty states.
    const [first, last] = [nights.slice(2, month + 2), nights.slice(-month)].map((all) =>
      median(all.flatMap((size) => numberOf(size, name))),
    ) as [number, number];
    const most = first * factor + perNight * (nights.length - month);
    return last > most ? [`growth: ${name} went from ${first} to ${last}, more than ${most}`] : [];
  });
}

interface Process {
  readonly words: string;
  readonly rss: number;
  readonly cpuMs: number;
}

/**
 * Memory is that of the largest command that ran as a process, in bytes, and processor time that of all but the try-ons,
 * which not each night has; other names are the number of the night.
 */
function numberOf(size: Size, name: string): number[] {
  const ran = size.processes as readonly Process[];
  if (name === "memory") return ran.length === 0 ? [] : [Math.max(...ran.map(({ rss }) => rss))];
  if (name !== "cpu_ms") return [size[name] as number];
  const all = ran.filter(({ words }) => !words.startsWith("tryon"));
  return all.length < 3 ? [] : [all.reduce((sum, { cpuMs }) => sum + cpuMs, 0)];
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

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
