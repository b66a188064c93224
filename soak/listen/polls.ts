import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startMock } from "../../src/mock/index.ts";
import { Running } from "../program.ts";
import { openGateway } from "./gateway.ts";
import { loggedIds } from "./kills.ts";
import { Listener } from "./listener.ts";

export interface PollPlan {
  readonly program: string;
  /** How often the listener is killed, after an import each. */
  readonly kills: number;
}

/** What a listener that polls has made of imports, with a service whose clock is wrong. */
export interface PollCounts {
  readonly imports: number;
  readonly logged: number;
  readonly loggedTwice: number;
}

/** The longest time from the end of an import to its event: two polls. */
const patienceMs = 12_000;

/** Imports files while a listener polls, and is killed; the `Date` of the service is in the year 2050. */
export async function playPolls({ program, kills }: PollPlan): Promise<PollCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const mock = await startMock({ rateLimit: false, speed: 100 });
  const gateway = await openGateway(mock.baseUrl);
  gateway.dateShiftMs = Date.parse("2050-01-01T00:00:00Z") - Date.now();
  const env = { CAT_BASE_URL: gateway.url, CAT_API_KEY: mock.apiKey };
  const files = { program, folder, log: join(folder, "events.ndjson"), flags: ["--poll"], env };
  let listener = await Listener.start(files, "0");
  try {
    for (let at = 0; at < kills; at++) {
      const row = { reference: `R${at}`, name: "Dress", images: [{ url: "https://cdn.example.com/1.jpg" }] };
      writeFileSync(join(folder, `${at}.ndjson`), `${JSON.stringify(row)}\n`);
      const args = ["import", `${at}.ndjson`, "--no-wait", "--quiet"];
      const place = { cwd: folder, env: { ...env, CAT_HOME: join(folder, "home") } };
      const { status, stderr } = await new Running(program, args, place).ended;
      if (status !== 0) throw new Error(`the import exited with ${status}: ${stderr}`);
      await listener.stop("SIGKILL");
      listener = await Listener.start(files, String(at + 1));
    }
    const end = performance.now() + patienceMs;
    while (loggedIds(files.log).length < kills && performance.now() < end) await pause(100);
    const ids = loggedIds(files.log);
    return { imports: kills, logged: new Set(ids).size, loggedTwice: ids.length - new Set(ids).size };
  } finally {
    await listener.stop("SIGKILL");
    gateway.stop();
    await mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function pollFaults({ imports, logged, loggedTwice }: PollCounts): string[] {
  const wrong: readonly [string, boolean][] = [
    ["imports without an event", logged < imports],
    ["events are in the log twice", loggedTwice > 0],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => what);
}
