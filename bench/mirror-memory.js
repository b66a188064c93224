import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { root, withPeak } from "./pairs.js";
import { settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

const memoryGoal = 200;

/** The memory of `cat export sync`: many small images, and large ones, of which 16 are downloaded at once. */
export const measure = async () => [...(await measureSmall()), ...(await measureLarge())];

async function measureLarge({ count = 64, bytes = 10_000_000, atOnce = 16 } = {}) {
  const measured = async (folder, server) => {
    const mirror = join(folder, "mirror");
    const args = ["export", "sync", mirror, "--quiet", "--concurrency", String(atOnce)];
    const { peak } = await withPeak([join(root, "bin/cat.js"), ...args], {
      env: settingsFor(server, folder),
    });
    const images = readdirSync(mirror).filter((name) => name.endsWith(".png"));
    if (images.length !== count) throw new Error(`${images.length} images were saved, not ${count}`);
    return [
      {
        what: `sync of ${count} images of ${bytes / 1_000_000} MB, ${atOnce} at once, memory / ${memoryGoal} MB`,
        ratio: peak / memoryGoal,
        goal: 1,
        atMost: true,
        note: `${peak} MB`,
      },
    ];
  };
  return withServer(() => startOutputsServer(count, bytes), measured);
}

/** A first run, one with --full, and one that a kill stopped. */
async function measureSmall({ count = 100_000, bytes = 400 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const server = await startOutputsServer(count, bytes);
  try {
    const env = {
      ...process.env,
      CAT_HOME: join(folder, "home"),
      CAT_BASE_URL: server.base_url,
      CAT_API_KEY: "ak_mock",
    };
    const mirror = join(folder, "mirror");
    const peakOf = async (...flags) =>
      (await withPeak([join(root, "bin/cat.js"), "export", "sync", mirror, "--quiet", ...flags], { env }))
        .peak;
    const peaks = { "first run": await peakOf(), "--full": await peakOf("--full") };
    const index = stopBeforeIndex(mirror);
    peaks["resumed run"] = await peakOf();
    if (!readFileSync(join(mirror, "catalogue.ndjson")).equals(index)) throw new Error("the index differs");
    return Object.entries(peaks).map(([run, peak]) => ({
      what: `sync of ${count.toLocaleString("en")} images, memory / ${memoryGoal} MB, ${run}`,
      ratio: peak / memoryGoal,
      goal: 1,
      atMost: true,
      note: `${peak} MB`,
    }));
  } finally {
    server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Leaves a mirror as a kill just before the first index does: every image is in the table. Returns the index. */
function stopBeforeIndex(mirror) {
  const index = readFileSync(join(mirror, "catalogue.ndjson"));
  const work = join(mirror, ".catalogue-sync/all");
  const table = new Database(join(work, "index.db"));
  table.exec("UPDATE entry SET is_fresh = 1; UPDATE file SET sha256 = NULL, is_ahead = 1");
  table.close();
  const state = JSON.parse(readFileSync(join(work, "state.json"), "utf8"));
  writeFileSync(join(work, "state.json"), JSON.stringify({ ...state, mark: null, full_read: null }));
  writeFileSync(join(work, "journal.ndjson"), "");
  rmSync(join(mirror, "catalogue.ndjson"));
  return index;
}
