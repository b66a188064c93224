import { test } from "vitest";
import { type Control, controls } from "../../soak/import/controls.ts";
import { importSoak } from "../../soak/import/import-soak.ts";
import { type Scenario, scenarioOf } from "../../soak/import/scenario.ts";
import type { Step } from "../../soak/import/step.ts";
import type { Played } from "../../soak/played.ts";
import { playAll } from "../../soak/soak.ts";
import type { Trouble } from "../../soak/trouble.ts";
import { quickProgram } from "../support/quick-program.ts";
import { repetitions } from "../support/repetitions.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:import`: real processes, killed with -9, and a real service with faults. */
const patience = { timeout: repetitions(300_000, 1_800_000) };

const scenarios = repetitions(1, 12);
const undone = "imports that are killed again and again leave the service as one that nothing interrupted";

const mistakes: readonly [mistake: string, scenario: () => Scenario, control: Control, kind: string][] = [
  ["a new key for a batch whose response was lost", answerLost, "new-key", "photo doubled"],
  ["an import that forgets its attached photos", importedAgain, "no-ledger", "photo doubled"],
  ["a gateway's page that counts as a rejection", gatewayAnswers, "trust-gateway", "not resumable"],
  ["a key that is sent after the machine slept", machineSleeps, "old-key", "photo doubled"],
  ["a run that two processes work on", startedTwice, "no-hold", "photo doubled"],
];
/** The others take longer: they are tried in `npm run test:long`. */
const tried = mistakes.slice(0, repetitions(1, mistakes.length));

test.concurrent(undone, patience, async ({ expect }) => {
  const some = [...smallScenarios(scenarios), ...tried.map(([, scenario]) => scenario())];
  const played = await playedOf(some, null);
  expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
  expect(played).toHaveLength(some.length);
  expect(played.flatMap(({ kills }) => kills).length).toBeGreaterThanOrEqual(scenarios);
});

test.concurrent.for(tried)("%s is detected", patience, async ([, scenario, control, kind], { expect }) => {
  const [played] = await playedOf([scenario()], control);
  expect(played!.faults.map((fault) => fault.kind)).toContain(kind);
});

/** A gateway passes the first batch on, and responds to all of its attempts. */
function gatewayAnswers(): Scenario {
  const gateway = { step: "sending calls", status: 400, passesOn: true, times: 10_000 } as const;
  return { ...plain("gateway"), troubles: [{ ...calm, kill: never, gateway }] };
}

/** A batch waits for the rate limit window after its response was lost. */
function machineSleeps(): Scenario {
  const sleep = { step: "sending calls", nightMs: 25 * 3_600_000 } as const;
  return { ...plain("sleep"), troubles: [{ ...calm, kill: never, sleep }] };
}

/** The command is started a second time while its first batch is sent; nothing but the run keeps photos from doubling. */
function startedTwice(): Scenario {
  const twice = { step: "sending calls", waitMs: 0 } as const;
  const faults = [{ match: { method: "POST", path: "/v1/imports" }, delay_ms: 5_000, times: 1 }];
  return { ...plain("twice"), photos: "all", troubles: [{ ...calm, kill: never, faults, twice }] };
}

const never = { step: null, nth: 10_000, at: "arrived", waitMs: 0 } as const;

/** Killed after the service has accepted the first batch, before the response arrives. */
function answerLost(): Scenario {
  const kill = { step: "sending calls", nth: 1, at: "done", waitMs: 0 } as const;
  return { ...plain("answer lost"), troubles: [{ ...calm, kill }] };
}

/** Adds a photo to some rows and imports the file again. */
function importedAgain(): Scenario {
  const { rows, ...rest } = plain("imported again");
  const earlier = rows.map((row) => ({ ...row, images: row.images.slice(0, 1) }));
  const again = rows.map((row) => ({ ...row, images: [...row.images.slice(0, 1), added(row.reference)] }));
  return { ...rest, earlier, rows: again };
}

const added = (reference: string) => ({ url: `https://cdn.example.com/${reference}-added.jpg` });

/** Ten rows for an empty service, without faults. */
function plain(seed: string): Scenario {
  const rows = Array.from({ length: 10 }, (_, at) => {
    const reference = `SKU-${at}`;
    return { reference, name: `Dress ${at}`, images: [{ url: `https://cdn.example.com/${reference}.jpg` }] };
  });
  const given = { mode: "upsert", onImageError: "skip", photos: null, format: "csv" } as const;
  const before = { earlier: null, existing: [], meddling: [], troubles: [], detour: null, earlierAheadMs: 0 };
  return { seed, ...given, concurrency: 4, namesOutputs: true, hasLedgerFile: false, rows, ...before };
}

const calm: Omit<Trouble<Step>, "kill"> = {
  orAtItsEnd: false,
  faults: [],
  failsAfterWork: null,
  restart: null,
};

/** The first scenarios that are small and have several faults. */
function smallScenarios(count: number): Scenario[] {
  const found: Scenario[] = [];
  for (let at = 0; found.length < count; at++) {
    const scenario = scenarioOf(`test ${at}`);
    if (scenario.rows.length <= 40 && scenario.troubles.length >= 3) found.push(scenario);
  }
  return found;
}

async function playedOf(scenarios: readonly Scenario[], control: Control | null): Promise<Played[]> {
  needsBuild();
  const played: Played[] = [];
  await playAll(importSoak, {
    scenarios,
    lanes: Math.min(3, scenarios.length),
    patches: [...quickProgram, ...(control === null ? [] : [controls[control]])],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
