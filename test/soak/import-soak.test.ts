import { type Control, controls } from "../../soak/import/controls.ts";
import { importSoak } from "../../soak/import/import-soak.ts";
import type { Scenario } from "../../soak/import/scenario.ts";
import { underControl } from "../../soak/import/under-control.ts";
import { longTest } from "../support/long-test.ts";
import { quickProgram } from "../support/quick-program.ts";
import { faultsOf, firstScenarios, patience, played } from "./soak-tests.ts";

/** A short part of `npm run soak:import`: real processes, killed with -9, and a real service with faults. */
const scenarios = 12;
const undone = "imports that are killed again and again leave the service as one that nothing interrupted";

/** `kind`: what is found, or one of several: how often a batch waits over a second depends on the machine. */
const mistakes: readonly [mistake: string, control: Control, kind: string | RegExp][] = [
  ["a new key for a batch whose response was lost", "new-key", "photo doubled"],
  ["an import that forgets its attached photos", "no-ledger", "photo lost"],
  ["a gateway's page that counts as a rejection", "trust-gateway", /^(?:not resumable|wrong summary)$/],
  ["a key that is sent after the machine slept", "old-key", /^(?:photo doubled|wrong summary)$/],
  ["a run that two processes work on", "no-hold", "photo doubled"],
  ["an import that forgets what the rows said before", "forget-before", "overwritten"],
  ["an import that overwrites what others changed", "overwrite-theirs", "overwritten"],
  ["photos of unknown origin that are not compared", "never-compare", "photo doubled"],
  ["a replaced photo that stays", "keep-replaced", "photo doubled"],
  ["a replaced photo that is detached without the new one", "detach-first", "photo lost"],
];

longTest.concurrent(undone, patience, async ({ expect }) => {
  const some = [
    ...smallScenarios(scenarios),
    ...mistakes.map(([, control]) => underControl(small(), control)),
  ];
  const results = await playedWith(null, some);
  expect(faultsOf(results)).toEqual([]);
  expect(results).toHaveLength(some.length);
});

longTest.concurrent.for(mistakes)("%s is detected", patience, async ([, control, kind], { expect }) => {
  const [result] = await playedWith(control, [underControl(small(), control)]);
  expect(result!.faults.map((fault) => fault.kind)).toContainEqual(expect.stringMatching(kind));
});

const smallScenarios = (count: number): Scenario[] =>
  firstScenarios(
    count,
    importSoak,
    (scenario) => scenario.story !== null || (scenario.rows.length <= 40 && scenario.troubles.length >= 3),
  );

const small = (): Scenario => smallScenarios(1)[0]!;

const playedWith = (control: Control | null, some: readonly Scenario[]) =>
  played(importSoak, some, [...quickProgram, ...(control === null ? [] : [controls[control]].flat())]);
