import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countingProxy } from "./counting-proxy.js";
import { root, withPeak } from "./pairs.js";
import { writeProducts } from "./product-files.js";
import { startMockServer } from "./servers.js";

/** Imports a file with its own settings and state folder; returns the time, and the peak memory in MB. */
export const importFile = (file, { baseUrl, home, flags = [] }) =>
  withPeak([join(root, "bin/cat.js"), "import", "--quiet", "--no-input", ...flags, file], {
    env: { ...process.env, CAT_HOME: home, CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" },
  });

/**
 * Imports a file of so many products into a mock, and hands what a second run needs to `measured`: the file, its
 * settings, the proxy that counts the requests, and the time of the first import.
 */
export async function afterImport(rows, measured) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  const proxy = await countingProxy(mock.base_url);
  try {
    const file = join(folder, "products.csv");
    await writeProducts(file, { rows, format: "csv" });
    const settings = { baseUrl: proxy.base_url, home: join(folder, "home") };
    const { ms } = await importFile(file, settings);
    // Otherwise nothing would be measured.
    if (proxy.counts.writes < rows / 2_000) throw new Error(`only ${proxy.counts.writes} writes were sent`);
    return await measured({ folder, file, settings, proxy, ms });
  } finally {
    proxy.stop();
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
