import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../test/support/seeded-random.ts";

import { Sender } from "./deliver.ts";
import { Listener } from "./listener.ts";

export interface KillPlan {
  readonly program: string;
  readonly seed: number;
  readonly deliveries: number;
  /** The number of events; each is delivered equally often. */
  readonly events: number;
  readonly concurrency: number;
  /** How the listener is stopped in turn, and started again. */
  readonly stops: readonly ("SIGINT" | "SIGKILL")[];
}

/** What a listener that was stopped and killed has made of its deliveries. */
export interface KillCounts {
  /** Deliveries, and attempts to make them: one without a 200 is made again. */
  readonly deliveries: number;
  readonly attempts: number;
  /** Events with a 200. */
  readonly acknowledged: number;
  readonly logged: number;
  readonly printed: number;
  readonly printedTwice: number;
  /** Checked after each stop, and at the end. */
  readonly acknowledgedNotLogged: number;
  readonly printedNotLogged: number;
  /** Events of the log whose process was killed while it printed them: at most those in flight at each kill. */
  readonly loggedBeforeKill: number;
  /** Events of the log that were not printed although their process was not killed. */
  readonly missed: number;
  readonly loggedTwice: number;
  /** Exit statuses of listeners that were not killed, other than 0. */
  readonly badExits: number;
}

/** Delivers events in random order while the listener is stopped and killed. */
export async function playKills(plan: KillPlan): Promise<KillCounts> {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-soak-"));
  const files = { program: plan.program, folder, log: join(folder, "events.ndjson") };
  let listener = await Listener.start(files, "0");
  const listeners = [listener];
  const sender = new Sender(listener.url, plan.concurrency);
  try {
    const queue = shuffled(plan);
    const acknowledged = new Set<string>();
    let attempts = 0;
    const worker = async () => {
      for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
        const status = await sender.send(id);
        attempts++;
        if (status === 200) acknowledged.add(id);
        else {
          queue.unshift(id);
          await pause(20);
        }
      }
    };
    const work = Promise.all(Array.from({ length: plan.concurrency }, worker));
    const hidden = new Set<string>();
    let badExits = 0;
    let missed = 0;
    /** Events that the log has, but no listener printed, apart from those known. */
    const newlyHidden = () => {
      const printed = new Set(listeners.flatMap((one) => one.printed()));
      return [...new Set(loggedIds(files.log))].filter((id) => !printed.has(id) && !hidden.has(id));
    };
    const lost = new Set<string>();
    const checkLog = () => {
      const logged = new Set(loggedIds(files.log));
      for (const id of acknowledged) if (!logged.has(id)) lost.add(id);
    };
    // Most events are new in the first fifth of the deliveries: the stops are there.
    const step = Math.floor(plan.deliveries / 5 / Math.max(1, plan.stops.length));
    for (const [at, signal] of plan.stops.entries()) {
      while (attempts < (at + 1) * step && queue.length > 0) await pause(1);
      const status = await listener.stop(signal);
      // Now, because a later delivery of the same event would be logged.
      checkLog();
      const found = newlyHidden();
      if (signal === "SIGKILL") for (const id of found) hidden.add(id);
      else {
        missed += found.length;
        badExits += status === 0 ? 0 : 1;
        for (const id of found) hidden.add(id);
      }
      // On another port: a connection of any process could have taken the old one.
      listener = await Listener.start(files, String(at + 1));
      sender.url = listener.url;
      listeners.push(listener);
    }
    await work;
    badExits += (await listener.stop("SIGINT")) === 0 ? 0 : 1;
    missed += newlyHidden().length;
    checkLog();
    const ids = loggedIds(files.log);
    const logged = new Set(ids);
    const printed = listeners.flatMap((one) => one.printed());
    const printedIds = new Set(printed);
    return {
      deliveries: plan.deliveries,
      attempts,
      acknowledged: acknowledged.size,
      logged: logged.size,
      printed: printedIds.size,
      printedTwice: printed.length - printedIds.size,
      acknowledgedNotLogged: lost.size,
      printedNotLogged: [...printedIds].filter((id) => !logged.has(id)).length,
      loggedBeforeKill: logged.size - printedIds.size - missed,
      missed,
      loggedTwice: ids.length - logged.size,
      badExits,
    };
  } finally {
    await sender.close();
    await listener.stop("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/** What is wrong with the counts, in words. */
export function killFaults(plan: KillPlan, counts: KillCounts): string[] {
  const kills = plan.stops.filter((signal) => signal === "SIGKILL").length;
  const wrong: readonly [string, boolean][] = [
    ["events were not acknowledged", counts.acknowledged !== plan.events],
    ["acknowledged events are missing from the log", counts.acknowledgedNotLogged > 0],
    ["events were printed twice", counts.printedTwice > 0],
    ["events were printed that the log does not have", counts.printedNotLogged > 0],
    ["events are in the log twice", counts.loggedTwice > 0],
    ["events were not printed without a kill", counts.missed > 0],
    ["more events were not printed than were in flight", counts.loggedBeforeKill > kills * plan.concurrency],
    ["listeners did not exit with 0", counts.badExits > 0],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => what);
}

/** Each event equally often, in random order; the last is delivered first. */
function shuffled({ seed, deliveries, events }: KillPlan): string[] {
  const random = seededRandom(seed);
  const ids = Array.from({ length: deliveries }, (_, at) => `evt_${at % events}`);
  for (let at = ids.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [ids[at], ids[other]] = [ids[other]!, ids[at]!];
  }
  return ids;
}

/** The IDs of the complete lines of a log. */
export function loggedIds(log: string): string[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [(JSON.parse(line) as { id: string }).id];
      } catch {
        return [];
      }
    });
}
