import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { importFile } from "./import-runs.js";
import { headers, startLimitedMock } from "./servers.js";

const windowMs = 60_000;
const goal = 1.05;

/**
 * An import with one photo per row, so that each row costs a write: its time from the first write to the end,
 * against the minimum that the limit allows. Uses the mock's real limits, in real minutes.
 */
export async function measure({ photos = 200, writesAMinute = 60 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  // Jobs end immediately: only sending is measured.
  const mock = await startLimitedMock("--speed", "1000", "--rate-limit", `600,${writesAMinute}`);
  try {
    const file = await writeRows(folder, photos);
    await importFile(file, { baseUrl: mock.base_url, home: join(folder, "home") });
    const ended = Date.now();
    const asked = await (await fetch(`${mock.base_url}/_mock/requests`, { headers })).json();
    const writes = asked.filter(({ method }) => method !== "GET");
    const done = writes.filter(({ status }) => status < 300);
    // The file itself takes one more.
    if (done.length !== photos + 1) throw new Error(`${done.length} writes were done, not ${photos + 1}`);
    const begun = Math.min(...writes.map(({ at }) => Date.parse(at)));
    const refused = asked.filter(({ status }) => status === 429).length;
    const what = `import of ${photos} photos at ${writesAMinute} writes per minute`;
    return [
      {
        what: `${what}, time against what the limit allows`,
        ratio: (ended - begun) / (soonest(begun, done.length, writesAMinute) - begun),
        goal,
        atMost: true,
        note: `${((ended - begun) / 1_000).toFixed(1)} s`,
      },
      { what: `${what}, 429 responses`, ratio: refused, goal: 0, atMost: true },
    ];
  } finally {
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The earliest time that many writes can be done if the first is sent at `begun`: windows start on the minute. */
const soonest = (begun, writes, aMinute) =>
  Math.max(begun + 1, (Math.floor(begun / windowMs) + Math.ceil(writes / aMinute) - 1) * windowMs);

/** A file of that many rows, each with its own photo. */
async function writeRows(folder, count) {
  mkdirSync(join(folder, "photos"));
  const lines = ["reference,name,image_front"];
  for (let index = 0; index < count; index++) {
    const background = { r: index % 256, g: index >> 8, b: 128 };
    const photo = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .png()
      .toBuffer();
    writeFileSync(join(folder, "photos", `${index}.png`), photo);
    lines.push(`SKU-${index},Linen dress number ${index},photos/${index}.png`);
  }
  const file = join(folder, "products.csv");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}
