import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, timed } from "./pairs.js";
import { controlOf, createProducts, startLimitedMock } from "./servers.js";

const windowMs = 60_000;
const goal = 1.05;
const products = 125;
const backgrounds = "white|studio";
const angles = "full-front|full-back|full-side|close-up";
/** Two consistency groups of eight fit into a request of twenty. */
const requests = Math.ceil(products / 2);
/** The time of a try-on at the mock, and between two looks at the tasks (Limits, job polling interval). */
const taskMs = 9_000;
const pollMs = 5_000;

/**
 * A thousand try-ons at the service's limits of 600 reads and 60 writes per minute: from the first request to the end,
 * against the earliest possible end. Real time.
 */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startLimitedMock("--demo", "0");
  const control = controlOf(mock);
  try {
    await createProducts(mock, products);
    const file = join(folder, "looks.csv");
    const rows = Array.from({ length: products }, (_, at) => `SKU-${at},Amara,${backgrounds},${angles}`);
    writeFileSync(file, ["product_reference,model_id,background,angle_shot", ...rows, ""].join("\n"));
    // A window starts now: both are full, whenever this is run.
    const { now } = await control("/_mock/clock", { advance_ms: 0 });
    await control("/_mock/clock", { advance_ms: windowMs - (Date.parse(now) % windowMs) });
    const earlier = (await control("/_mock/requests")).length;
    const args = [join(root, "bin/cat.js"), "tryon", file, "--matrix", "--yes", "--json", "--quiet"];
    const env = {
      ...process.env,
      CAT_HOME: join(folder, "home"),
      CAT_BASE_URL: mock.base_url,
      CAT_API_KEY: "ak_mock",
    };
    const { output } = await timed(process.execPath, args, { env });
    const ended = Date.parse((await control("/_mock/clock", { advance_ms: 0 })).now);
    const { succeeded } = JSON.parse(output);
    if (succeeded !== 1_000) throw new Error(`${succeeded} try-ons succeeded, not 1000`);
    const asked = (await control("/_mock/requests")).slice(earlier);
    const begun = Math.min(...asked.map(({ at }) => Date.parse(at)));
    const writes = asked.filter(({ method, status }) => method === "POST" && status < 300).length;
    if (writes !== requests) throw new Error(`${writes} requests were sent, not ${requests}`);
    const lastWrite = Math.max(
      begun,
      (Math.floor(begun / windowMs) + Math.ceil(requests / 60) - 1) * windowMs,
    );
    const what = "1,000 try-ons at 600 reads and 60 writes per minute";
    return [
      {
        what: `${what}, time against what limits, tasks and polling allow`,
        ratio: (ended - begun) / (lastWrite - begun + taskMs + pollMs),
        goal,
        atMost: true,
        note: `${((ended - begun) / 1_000).toFixed(1)} s, ${writes} requests`,
      },
      {
        what: `${what}, responses of 429`,
        ratio: asked.filter(({ status }) => status === 429).length,
        goal: 0,
        atMost: true,
      },
    ];
  } finally {
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
