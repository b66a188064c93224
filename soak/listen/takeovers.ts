import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MovableClock } from "../../src/clock.ts";
import { startMock } from "../../src/mock/index.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import { openGateway } from "./gateway.ts";
import { loggedIds } from "./kills.ts";
import { Listener, NotListeningError } from "./listener.ts";

export interface TakeoverPlan {
  readonly program: string;
  readonly seed: number;
  /** How often the listener is killed. */
  readonly kills: number;
  /** Events between two kills. */
  readonly events: number;
  /** How many attempts of the first start a gateway rejects; six are all that the program makes. */
  readonly refusals: number;
}

/** What has become of the events of listeners that were killed with deliveries pending. */
export interface TakeoverCounts {
  readonly kills: number;
  readonly events: number;
  /** Deliveries that were pending when a listener was started. */
  readonly pending: number;
  readonly delivered: number;
  readonly abandoned: number;
  readonly notLogged: number;
  /** Starts that failed because a gateway responded 403 instead of the service. */
  readonly failedStarts: number;
  /** Listeners that were started with a URL in use, and did not exit with 6. */
  readonly secondListeners: number;
  /** Webhooks after the last listener has ended. */
  readonly webhooksLeft: number;
}

/** Kills a listener with a webhook of its own while events are delivered, and starts it again at the same URL. */
export async function playTakeovers({
  program,
  seed,
  kills,
  events,
  refusals,
}: TakeoverPlan): Promise<TakeoverCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const random = Random.from(String(seed));
  const clock = new MovableClock({ frozenAt: Date.now() });
  const mock = await startMock({ seed, clock, rateLimit: false });
  const gateway = await openGateway(mock.baseUrl);
  const port = await freePort();
  // Found as a webhook of the URL, whatever the port of the listener.
  const flags = ["--port", String(port), "--public-url", `http://127.0.0.1:${port}/`];
  const files = {
    ...{ program, folder, log: join(folder, "events.ndjson") },
    flags: [...flags, "--tolerance", "999999999"],
    env: { CAT_BASE_URL: gateway.url, CAT_API_KEY: mock.apiKey },
  };
  const counts = { pending: 0, failedStarts: 0, secondListeners: 0 };
  let starts = 0;
  const start = async (): Promise<Listener> => {
    gateway.dateShiftMs = random.pick([0, 600_000, 24 * 365 * 86_400_000]);
    // The first start creates the webhook; later ones take it over.
    gateway.refusals = starts === 0 ? refusals : random.next() < 0.3 ? 1 : 0;
    for (;;) {
      try {
        return await Listener.start(files, String(starts++));
      } catch (error) {
        if (!(error instanceof NotListeningError)) throw error;
        counts.failedStarts++;
        gateway.refusals = 0;
      }
    }
  };
  const states = () => mock.deliveries().map(({ state }) => state);
  const count = (state: string) => states().filter((one) => one === state).length;
  const importRow = async (reference: string) => {
    const response = await fetch(`${mock.baseUrl}/v1/imports`, {
      method: "POST",
      headers: { authorization: `Bearer ${mock.apiKey}`, "content-type": "application/x-ndjson" },
      body: `${JSON.stringify({ reference, name: "Dress", images: [{ url: "https://cdn.example.com/1.jpg" }] })}\n`,
    });
    if (!response.ok) throw new Error(await response.text());
  };
  let listener = await start();
  try {
    for (let round = 0; round < kills; round++) {
      for (let at = 0; at < events; at++) await importRow(`R${round}-${at}`);
      const isLate = random.next() < 0.5;
      if (!isLate) await listener.stop("SIGKILL");
      const killed = isLate ? pause(random.below(40)).then(() => listener.stop("SIGKILL")) : null;
      clock.advance(10_000);
      await killed;
      await mock.settled();
      counts.pending += count("pending");
      listener = await start();
      const second = {
        ...files,
        flags: ["--public-url", `http://127.0.0.1:${port}/`],
        log: `${files.log}-2`,
      };
      if (random.next() < 0.3 && (await Listener.refused(second, `second-${round}`)) !== 6)
        counts.secondListeners++;
      // Up to the first retry.
      clock.advance(61_000);
      await mock.settled();
    }
    // Up to the last retry.
    for (const minutes of [6, 16, 61, 361]) {
      clock.advance(minutes * 60_000);
      await mock.settled();
    }
    const [delivered, abandoned] = [count("delivered"), count("abandoned")];
    await listener.stop("SIGINT");
    const logged = new Set(loggedIds(files.log));
    return {
      ...{ kills, events: kills * events, ...counts, delivered, abandoned },
      notLogged: mock.deliveries().filter(({ event_id: id }) => !logged.has(id)).length,
      webhooksLeft: mock.state().organizations.main.webhooks.length,
    };
  } finally {
    await listener.stop("SIGKILL");
    gateway.stop();
    await mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function takeoverFaults({
  events,
  pending,
  delivered,
  abandoned,
  notLogged,
  secondListeners,
  webhooksLeft,
}: TakeoverCounts): string[] {
  const wrong: readonly [string, boolean][] = [
    ["no delivery was pending", pending === 0],
    ["deliveries were abandoned", abandoned > 0],
    ["events were not delivered once", delivered !== events],
    ["events are missing from the log", notLogged > 0],
    ["two listeners had one URL", secondListeners > 0],
    ["other webhooks were left", webhooksLeft > 1],
    ["the webhook was deleted within the retries after its takeover", webhooksLeft < 1],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => what);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
