import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countingProxy } from "./counting-proxy.js";
import { importFile } from "./import-runs.js";
import { startMockServer } from "./servers.js";

const megabytes = 250;
const sides = ["front", "back", "left"];

/** A photo of 2 kB whose bytes are its own. */
const photo = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const photoOf = (name) => Buffer.concat([photo, Buffer.from(name.padEnd(2_000))]);

/** The first import of a file on a second machine: each of its local photos is compared by bytes, and none is sent. */
export async function measure({ rows = 5_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  const proxy = await countingProxy(mock.base_url);
  try {
    const lines = [["reference", "name", ...sides.map((side) => `image_${side}`)].join(",")];
    mkdirSync(join(folder, "photos"));
    for (let row = 0; row < rows; row++) {
      const names = sides.map((side) => `photos/${row}-${side}.png`);
      for (const name of names) writeFileSync(join(folder, name), photoOf(name));
      lines.push([`SKU-${row}`, "Linen dress", ...names].join(","));
    }
    const file = join(folder, "products.csv");
    writeFileSync(file, `${lines.join("\n")}\n`);
    const imported = (home) => importFile(file, { baseUrl: proxy.base_url, home: join(folder, home) });
    await imported("one");
    // Otherwise nothing would be compared.
    if (proxy.counts.writes < rows * sides.length) throw new Error(`only ${proxy.counts.writes} writes`);
    proxy.reset();
    const { ms, peak } = await imported("two");
    const { reads, writes } = proxy.counts;
    const photos = (rows * sides.length).toLocaleString("en");
    return [
      {
        what: `writes sent by the import of a second machine, ${photos} photos compared by bytes`,
        ratio: writes,
        goal: 0,
        atMost: true,
        note: `${reads.toLocaleString("en")} reads besides a download of each, ${(ms / 1_000).toFixed(0)} s`,
      },
      {
        what: `the same, peak memory as a share of ${megabytes} MB`,
        ratio: peak / megabytes,
        goal: 1,
        atMost: true,
        note: `${peak} MB`,
      },
    ];
  } finally {
    proxy.stop();
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
