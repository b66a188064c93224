import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startMock } from "../../src/mock/index.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import type { Patch } from "../program-files.ts";
import { Listener } from "./listener.ts";

/** Makes a listener read its webhook several times a second instead of once a minute. */
export const inAHurry: readonly Patch[] = [
  { file: "src/flows/listen/watch-webhook.ts", from: "everyMs = 60_000", to: "everyMs = 300" },
  { file: "src/flows/listen/watch-webhook.ts", from: "tickMs = 5_000", to: "tickMs = 50" },
];

export interface TroubleCounts {
  readonly rounds: number;
  /** Webhooks that were deleted while their listener ran. */
  readonly gone: number;
  readonly notReplaced: number;
  /** Events after that. */
  readonly events: number;
  readonly notPrinted: number;
  /** Listeners that got two signals: at once, or the second one while their webhook was being deleted. */
  readonly atOnce: number;
  readonly later: number;
  /** The statuses of those that had another one than that of the first signal. */
  readonly badExits: readonly (number | null)[];
  readonly webhooksLeft: number;
}

const longestMs = 10_000;

async function holdsSoon(holds: () => boolean): Promise<boolean> {
  const end = performance.now() + longestMs;
  while (!holds()) {
    if (performance.now() > end) return false;
    await pause(20);
  }
  return true;
}

/** Takes the webhook of a running listener away, sends an event, and ends the listener by two signals. */
export async function playTroubles(plan: {
  readonly program: string;
  readonly seed: number;
  readonly rounds: number;
}): Promise<TroubleCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const random = Random.from(String(plan.seed));
  const mock = await startMock({ seed: plan.seed, speed: 100, rateLimit: false });
  const webhooks = () => mock.state().organizations.main.webhooks;
  const headers = { authorization: `Bearer ${mock.apiKey}`, "content-type": "application/x-ndjson" };
  const counts = { gone: 0, notReplaced: 0, events: 0, notPrinted: 0, atOnce: 0, later: 0 };
  const badExits: (number | null)[] = [];
  let webhooksLeft = 0;
  const files = {
    ...{ program: plan.program, folder, log: join(folder, "events.ndjson") },
    // An empty secret: handlers, and this process, know none.
    env: { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_WEBHOOK_SECRET: "" },
  };
  const importRow = async (reference: string) => {
    const row = { reference, name: "Dress", images: [{ url: "https://cdn.example.com/1.jpg" }] };
    const body = `${JSON.stringify(row)}\n`;
    const response = await fetch(`${mock.baseUrl}/v1/imports`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
  };
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const listener = await Listener.start(files, String(round));
      try {
        const { id } = webhooks()[0]!;
        counts.gone++;
        await fetch(`${mock.baseUrl}/v1/webhooks/${id}`, { method: "DELETE", headers });
        if (!(await holdsSoon(() => webhooks().length > 0))) counts.notReplaced++;
        counts.events++;
        await importRow(`R${round}`);
        if (!(await holdsSoon(() => listener.printed().length > 0))) counts.notPrinted++;
        const isLater = random.next() < 0.3;
        counts[isLater ? "later" : "atOnce"]++;
        // The second signal comes while the webhook is being deleted in any case.
        mock.faults.add({ match: { method: "DELETE" }, times: 1, delay_ms: isLater ? 3_000 : 200 });
        const exit = await listener.stopTwice(isLater ? 1_800 : random.below(20));
        if (exit !== (isLater ? 130 : 0)) badExits.push(exit);
        webhooksLeft += webhooks().length;
        mock.faults.clear();
      } finally {
        await listener.stop("SIGKILL");
        for (const { id } of webhooks())
          await fetch(`${mock.baseUrl}/v1/webhooks/${id}`, { method: "DELETE", headers });
      }
    }
    return { rounds: plan.rounds, ...counts, badExits, webhooksLeft };
  } finally {
    await mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function troubleFaults(counts: TroubleCounts): string[] {
  const wrong: readonly [string, boolean][] = [
    ["webhooks that were gone were not registered again", counts.notReplaced > 0],
    ["events after that were not printed", counts.notPrinted > 0],
    ["listeners with two signals had another status than that of the first one", counts.badExits.length > 0],
    ["webhooks were left after two signals", counts.webhooksLeft > 0],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => what);
}
