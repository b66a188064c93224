import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { importFile } from "./import-runs.js";
import { headers, startLimitedMock } from "./servers.js";

const windowMs = 60_000;
const goal = 1.05;

/**
 * An import with a photo of its own for each row, so that each row costs a write: how long it takes from its first write to its
 * end, against the soonest that the limit allows. Runs against the mock's real limits, in real minutes.
 */
export async function measure({ photos = 200, writesAMinute = 60 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  // Jobs end at once: what is measured is the sending.
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
    const what = `import of ${photos} photos at ${writesAMinute} writes a minute`;
    return [
      {
        what: `${what}, time against what the limit allows`,
        ratio: (ended - begun) / (soonest(begun, done.length, writesAMinute) - begun),
        goal,
        atMost: true,
        note: `${((ended - begun) / 1_000).toFixed(1)} s`,
      },
      { what: `${what}, answers of 429`, ratio: refused, goal: 0, atMost: true },
    ];
  } finally {
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The earliest moment at which so many writes can be done when the first is sent at `begun`: windows start on the minute. */
const soonest = (begun, writes, aMinute) =>
  Math.max(begun + 1, (Math.floor(begun / windowMs) + Math.ceil(writes / aMinute) - 1) * windowMs);

/** A file of so many rows, each with a photo that no other has. */
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
