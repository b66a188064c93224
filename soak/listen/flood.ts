import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Sender } from "./deliver.ts";
import { Listener } from "./listener.ts";

export interface FloodPlan {
  readonly program: string;
  readonly sockets: number;
  /** Connections that send bodies of 100 MB, one after the other. */
  readonly longBodies: number;
  readonly seconds: number;
}

export interface FloodCounts {
  /** The most memory of the listener, in MB. */
  readonly peakMemory: number;
  /** Genuine deliveries, and those without a 200. */
  readonly genuine: number;
  readonly failed: number;
  /** The 50th and 99th percentile and the longest time of a genuine delivery, in ms. */
  readonly ms: { readonly median: number; readonly p99: number; readonly longest: number };
  readonly slow: {
    readonly count: number;
    readonly open: number;
    readonly refused: number;
    readonly longestMs: Readonly<Record<string, number>>;
  };
  readonly long: {
    readonly sent: number;
    readonly bytes: number;
    readonly statuses: Readonly<Record<string, number>>;
  };
  readonly exit: number | null;
}

/** Delivers events, 20 per second, while others hold slow sockets open and send long bodies. */
export async function playFlood({ program, sockets, longBodies, seconds }: FloodPlan): Promise<FloodCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const listener = await Listener.start({ program, folder, log: join(folder, "events.ndjson") }, "flood");
  const sender = new Sender(listener.url, 16);
  try {
    const { port } = new URL(listener.url);
    const attack = (file: string, count: number) => {
      const child = fork(fileURLToPath(new URL(file, import.meta.url)), [
        port,
        String(count),
        String(seconds),
      ]);
      return once(child, "message").then(([found]) => found as never);
    };
    const attacks = Promise.all([attack("slow-sockets.ts", sockets), attack("long-bodies.ts", longBodies)]);
    const times: number[] = [];
    let failed = 0;
    const sent: Promise<void>[] = [];
    const deliver = async (id: string) => {
      const began = performance.now();
      if ((await sender.send(id)) !== 200) failed++;
      times.push(performance.now() - began);
    };
    const end = performance.now() + seconds * 1000;
    for (let at = 0; performance.now() < end; at++) {
      sent.push(deliver(`evt_${at}`));
      await pause(50);
    }
    await Promise.all(sent);
    const [slow, long] = await attacks;
    times.sort((one, other) => one - other);
    const at = (share: number) => Math.round(times[Math.ceil(times.length * share) - 1]!);
    const peakMemory = Math.round(listener.peakMemory());
    return {
      peakMemory,
      genuine: times.length,
      failed,
      ms: { median: at(0.5), p99: at(0.99), longest: at(1) },
      slow,
      long,
      exit: await listener.stop("SIGINT"),
    };
  } finally {
    await sender.close();
    await listener.stop("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function floodFaults({ peakMemory, failed, ms, slow, exit }: FloodCounts): string[] {
  const wrong: [string, boolean][] = [
    ["the listener had 150 MB or more", peakMemory >= 150],
    ["genuine deliveries failed", failed > 0],
    ["the 99th percentile of genuine deliveries is 1 s or more", ms.p99 >= 1_000],
    ["the listener did not exit with 0", exit !== 0],
  ];
  for (const [kind, longest] of Object.entries(slow.longestMs))
    wrong.push([`a slow socket (${kind}) was kept for ${Math.round(longest)} ms`, longest >= 10_000]);
  return wrong.filter(([, is]) => is).map(([what]) => what);
}
