import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countingProxy } from "../counting-proxy.js";
import { root, withPeak } from "../pairs.js";
import { writeProducts } from "../product-files.js";
import { startMockServer } from "../servers.js";

/** What each flow needs for a catalogue of so many products: requests, processor time, memory and state, for docs/scale.md. */
export async function measureFlows(products, pauseMs = 0) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  const proxy = await countingProxy(mock.base_url);
  const found = {};
  const step = async (name, home, ...args) => {
    proxy.reset();
    const state = join(folder, home);
    const before = bytesBelow(state);
    const env = { ...process.env, CAT_HOME: state, CAT_BASE_URL: proxy.base_url, CAT_API_KEY: "ak_mock" };
    const { peak, cpuMs, ms } = await withPeak([join(root, "bin/cat.js"), ...args], { env, cwd: folder });
    const { reads, writes } = proxy.counts;
    const cpu_s = Number((cpuMs / 1000).toFixed(1));
    found[name] = {
      reads,
      writes,
      mb: peak,
      cpu_s,
      s: Math.round(ms / 1000),
      state_bytes: bytesBelow(state) - before,
    };
    console.error(products, name, JSON.stringify(found[name]));
  };
  const importFile = (home, file) => [home, "import", file, "--quiet", "--no-input", "--yes"];
  try {
    const [sheet, night, looks] = ["products.csv", "night.csv", "looks.csv"].map((name) =>
      join(folder, name),
    );
    await writeProducts(sheet, { rows: products, format: "csv" });
    await step("import", ...importFile("one", sheet));
    await step("import again", ...importFile("one", sheet));
    // One row of a hundred has another name, and one is new.
    const lines = readFileSync(sheet, "utf8")
      .split("\n")
      .flatMap((line, at) =>
        at % 100 === 50 ? [line.replace("Linen", "Silk"), line.replace("SKU-", "NEW-")] : [line],
      );
    writeFileSync(night, lines.join("\n"));
    // A delta begins five minutes before the last import.
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await step("night", ...importFile("one", night));
    await step("undo of the night", "one", "imports", "undo", "last", "--yes", "--quiet");
    const rows = Array.from({ length: products }, (_, at) => `SKU-${at},Amara,white,full-front`);
    writeFileSync(looks, ["product_reference,model_id,background,angle_shot", ...rows, ""].join("\n"));
    // A machine that asks for the ends of tasks meanwhile, until it has as many events.
    const events = join(folder, "events.ndjson");
    const other = await countingProxy(mock.base_url);
    const env = {
      ...process.env,
      CAT_HOME: join(folder, "three"),
      CAT_BASE_URL: other.base_url,
      CAT_API_KEY: "ak_mock",
    };
    const listen = ["webhooks", "listen", "--poll", "--json", "--log", events, "--count", String(products)];
    const polled = withPeak([join(root, "bin/cat.js"), ...listen], { env });
    while (!existsSync(events)) await new Promise((resolve) => setTimeout(resolve, 100));
    await step("try-ons", "one", "tryon", looks, "--yes", "--quiet");
    const { peak, cpuMs } = await polled;
    found.events = { ...other.counts, mb: peak, cpu_s: cpuMs / 1000, log_bytes: statSync(events).size };
    other.stop();
    await step("missing try-ons on a second machine", "two", "tryon", looks, "--yes", "--quiet", "--missing");
    await step("sheet", "two", "products", "export", join(folder, "exported.csv"), "--quiet");
    await step("live rows", "two", "export", "--out", join(folder, "rows.ndjson"), "--quiet");
    found.files = Object.fromEntries(
      [sheet, join(folder, "exported.csv"), join(folder, "rows.ndjson")].map((path) => [
        path.split("/").at(-1),
        statSync(path).size,
      ]),
    );
    return found;
  } finally {
    proxy.stop();
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}

function bytesBelow(folder) {
  try {
    return readdirSync(folder, { recursive: true })
      .map((name) => statSync(join(folder, name)))
      .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
  } catch {
    return 0;
  }
}

// node bench/million/flows.js 10000
if (process.argv[1] === new URL(import.meta.url).pathname)
  console.log(
    JSON.stringify(await measureFlows(Number(process.argv[2]), Number(process.argv[3] ?? 0)), null, 1),
  );
