import { copyFileSync, linkSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../src/mock/seed/seed.ts";
import { Sender } from "./deliver.ts";
import { loggedIds } from "./kills.ts";
import { Listener } from "./listener.ts";

export interface DiskPlan {
  readonly program: string;
  readonly seed: number;
  readonly rounds: number;
}

/** What a listener has made of its deliveries while its disk was full, and its log rotated or linked. */
export interface DiskCounts {
  readonly acknowledged: number;
  /** Deliveries that the full disk rejected. */
  readonly rejected: number;
  readonly rotations: number;
  /** Listeners that were started with the log by another name, and did not exit with 2. */
  readonly secondListeners: number;
  /** Acknowledged events that neither the log nor a rotated copy has. */
  readonly lost: number;
  /** Rejected events that the log has. */
  readonly kept: number;
}

/** Runs in the listener: while a file exists, half of each write to the log succeeds, and the rest fails. */
const hook = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const write = fs.writeSync;
fs.writeSync = (descriptor, bytes, ...rest) => {
  const isLog = Buffer.isBuffer(bytes) && rest.length > 0;
  if (!isLog || !fs.existsSync(process.env.SOAK_FULL_DISK)) return write(descriptor, bytes, ...rest);
  const [offset] = rest;
  if (offset === 0) return write(descriptor, bytes, 0, bytes.length >> 1);
  throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
};
syncBuiltinESMExports();`;

/** Delivers events to a listener whose disk is full at times. Its log is emptied by logrotate, and gets a second name. */
export async function playDisk({ program, seed, rounds }: DiskPlan): Promise<DiskCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const at = (name: string) => join(folder, name);
  const env = {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`,
    SOAK_FULL_DISK: at("full"),
  };
  const files = { program, folder, log: at("events.ndjson"), env };
  const random = Random.from(String(seed));
  const listener = await Listener.start(files, "0");
  const sender = new Sender(listener.url, 8);
  const [acknowledged, rejected] = [new Set<string>(), new Set<string>()];
  const copies: string[] = [];
  let next = 0;
  let secondListeners = 0;
  const deliver = async (count: number, url = listener.url) => {
    sender.url = url;
    const ids = Array.from({ length: count }, () => `evt_${next++}`);
    await Promise.all(
      ids.map(async (id) => ((await sender.send(id)) === 200 ? acknowledged : rejected).add(id)),
    );
  };
  const full = async (count: number) => {
    writeFileSync(at("full"), "");
    await deliver(count);
    rmSync(at("full"));
  };
  try {
    for (let round = 0; round < rounds; round++) {
      await deliver(1 + random.below(20));
      if (random.next() < 0.5) {
        // As logrotate with copytruncate does. It loses what comes between both, so nothing comes.
        copies.push(at(`rotated-${round}`));
        copyFileSync(files.log, copies.at(-1)!);
        truncateSync(files.log, 0);
        await deliver(random.below(5));
      }
      if (random.next() < 0.3 || round === 0) {
        linkSync(files.log, at("linked.ndjson"));
        const second = { ...files, log: at("linked.ndjson"), env: {} };
        const other = await Listener.start(second, `second-${round}`).catch(() => null);
        if (other !== null) {
          secondListeners++;
          await deliver(10, other.url);
          await other.stop("SIGINT");
        }
        rmSync(at("linked.ndjson"));
      }
      await full(1 + random.below(5));
    }
    await deliver(5);
    const logged = new Set([files.log, ...copies].flatMap(loggedIds));
    return {
      acknowledged: acknowledged.size,
      rejected: rejected.size,
      rotations: copies.length,
      secondListeners,
      lost: [...acknowledged].filter((id) => !logged.has(id)).length,
      kept: [...rejected].filter((id) => logged.has(id)).length,
    };
  } finally {
    await sender.close();
    await listener.stop("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function diskFaults({ rejected, secondListeners, lost, kept }: DiskCounts): string[] {
  const wrong: readonly [string, boolean][] = [
    ["the disk was never full", rejected === 0],
    ["acknowledged events are missing from the log and its copies", lost > 0],
    ["rejected events are in the log", kept > 0],
    ["two listeners wrote to one log", secondListeners > 0],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => what);
}
