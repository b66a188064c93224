import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, root, withPeak } from "./pairs.js";

const memoryGoal = 200;

/** A run of `cat export sync` without changes: it must ask for the time of the service, read one page, and download nothing. */
export const measure = ({ images = 100_000, runs = 5 } = {}) =>
  withUnchangedMirror(images, async ({ args, env, requests }) => {
    const before = requests();
    const found = [];
    for (let run = 0; run < runs; run++) found.push(await withPeak(args, { env }));
    const asked = requests() - before;
    if (asked !== 2 * runs) throw new Error(`${asked} requests in ${runs} runs`);
    const peak = Math.round(median(found.map((one) => one.peak)));
    return [
      {
        what: `sync of ${images.toLocaleString("en")} images without changes, in seconds`,
        ratio: median(found.map(({ ms }) => ms)) / 1000,
        goal: 2,
        atMost: true,
        note: `two requests; peak memory ${peak < memoryGoal ? "under" : "NOT under"} ${memoryGoal} MB (${peak} MB)`,
      },
    ];
  });

/** Calls `work` with the command for a mirror that is complete, and with the number of requests so far. */
export async function withUnchangedMirror(images, work, cat = join(root, "bin/cat.js")) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  let requests = 0;
  const server = createServer(({ url }, response) => {
    requests++;
    response.writeHead(200, { "content-type": "application/json" });
    const [, id] = /^\/v1\/products\/(\w+)$/.exec(url) ?? [];
    response.end(
      JSON.stringify(id === undefined ? { data: [], next_cursor: null, has_more: false } : { id }),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const baseUrl = `http://127.0.0.1:${server.address().port}`;
    const mirror = join(folder, "mirror");
    writeMirror(mirror, baseUrl, images);
    const home = join(folder, "home");
    const env = { ...process.env, CAT_HOME: home, CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" };
    const args = [cat, "export", "sync", mirror, "--quiet"];
    // The first run with a key looks at a product, to see whether the mirror is of its organization.
    await withPeak(args, { env });
    return await work({ args, env, requests: () => requests });
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

/** The index and the state that a run leaves; its images are not read. */
function writeMirror(folder, base_url, images) {
  const idOf = (number) => `01ARZ3NDEKTSV4RRFF${String(number).padStart(8, "0")}`;
  const lines = Array.from({ length: images }, (_, number) =>
    JSON.stringify({
      product_id: idOf(Math.floor(number / 5)),
      asset_id: idOf(50_000_000 + number),
      ...{ reference: `DRESS-${number}`, name: "Linen dress with long sleeves", role: "source" },
      ...{
        path: `DRESS-${number}_front.jpg`,
        bytes: 100_000,
        sha256: "0".repeat(64),
        mime_type: "image/jpeg",
      },
      ...{ width: 1200, height: 1600, ai_generated: false, watermarked: false, derived: false },
      ...{ created_at: "2026-01-01T00:00:00.000Z", task_id: null, attributes: { orientation: "front" } },
      ...{ also_features: [], suggested_filename: `DRESS-${number}_front.jpg` },
    }),
  );
  const now = new Date().toISOString();
  const state = {
    version: 1,
    ...{ base_url, roles: null, template: null, shards: null, mark: now, full_read: now },
  };
  mkdirSync(join(folder, ".catalogue-sync/all"), { recursive: true });
  writeFileSync(join(folder, "catalogue.ndjson"), `${lines.join("\n")}\n`);
  writeFileSync(join(folder, ".catalogue-sync/all/state.json"), JSON.stringify(state));
}
