import { MovableClock } from "../../../../src/clock.ts";
import { Reviews } from "../../../../src/flows/export/reviews.ts";
import { mirrorFiles } from "../../../../src/flows/export/sync/mirror-state.ts";
import type { MirrorStore } from "../../../../src/flows/export/sync/mirror-store.ts";
import { type SyncOutcome, syncCatalogue } from "../../../../src/flows/export/sync/sync.ts";
import type { SyncInput } from "../../../../src/flows/export/sync/sync-run.ts";
import type { ProgressEvent } from "../../../../src/flows/progress-event.ts";
import { FakeCatalogue } from "./fake-catalogue.ts";
import { MemoryStore, StoredFiles } from "./memory-store.ts";

const hour = 3_600_000;

/** Ends a run as `kill -9` does: nothing is written from then on. */
export class Killed extends Error {}

/** A catalogue, a clock, and mirrors of it in memory. */
export function mirrorWorld() {
  const clock = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
  const catalogue = new FakeCatalogue(clock);
  /** Runs once; `killAt` is the number of the change to the store at which the process is killed. */
  const run = async (
    stored: StoredFiles,
    input: Partial<SyncInput> = {},
    {
      killAt = Number.POSITIVE_INFINITY,
      onChange = (_change: string) => {},
      client = catalogue.client,
      keyFingerprint = "key",
      scratch = "/nowhere",
      onProgress = (_event: ProgressEvent) => {},
      store: own = undefined as MirrorStore | undefined,
    } = {},
  ): Promise<SyncOutcome> => {
    const { shard = null } = input;
    let changes = 0;
    const inMemory = new MemoryStore(stored, {
      ...{ work: mirrorFiles(shard).work, scratch },
      onChange(change) {
        if (++changes >= killAt) throw new Killed();
        onChange(change);
      },
    });
    return syncCatalogue(
      {
        ...{ folder: "mirror", roles: null, template: null, shard, delete: false, maxDelete: null },
        ...{ dryRun: false, verify: false, full: false, fullEveryMs: 7 * 24 * hour, concurrency: 3 },
        ...{ sameOrganization: false, maxBytes: 50_000_000, label: true, filter: null },
        ...input,
      },
      {
        ...{ store: own ?? inMemory, clock, baseUrl: "https://service.test", runId: "run", keyFingerprint },
        client: async () => client,
        signal: new AbortController().signal,
        holder: { pid: 4711, since: "2026-01-05T09:00:00.000Z" },
        reviews: new Reviews(),
        readDecisions: async () => [],
        onProgress,
        onFailed: () => {},
        onNote: () => {},
      },
    );
  };
  return { clock, catalogue, run, newMirror: () => new StoredFiles() };
}

/** The files of a mirror that users see, as text. */
export const tree = ({ files }: StoredFiles): Record<string, string> =>
  Object.fromEntries(
    [...files]
      .filter(([path]) => !path.startsWith(".catalogue-sync/"))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, content]) => [path, content.toString("latin1")]),
  );
