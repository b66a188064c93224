import { type Control, controls, smallLimits } from "../../soak/export/controls.ts";
import { exportSoak } from "../../soak/export/export-soak.ts";
import type { Scenario } from "../../soak/export/scenario.ts";
import { underControl } from "../../soak/export/under-control.ts";
import { longTest } from "../support/long-test.ts";
import { faultsOf, firstScenarios, patience, played } from "./soak-tests.ts";

/** A short part of `npm run soak:export`: real processes that are killed, and a real service with faults. */
const scenarios = 6;

const mistakes: readonly [mistake: string, control: Control, kind: string][] = [
  // The number of images in the ZIP is checked as well: it stops the run before the cut file has its final name.
  ["a file that has its name before its length is checked", "rename-first", "not resumable"],
  ["a gateway's page that counts as a rejection", "trust-gateway", "not resumable"],
  ["a mirror that believes a list that is cut short", "believe-lists", "wrong files"],
  ["a mirror that an empty list empties", "remove-most", "wrong files"],
  ["changes that are read from too late a time", "late-mark", "wrong files"],
  ["images of a mirror that have their names before they are on the disk", "never-sync", "incomplete file"],
  ["images of a mirror that have their names before their record", "name-first", "wrong files"],
  ["images that a kill leaves without their names", "keep-unnamed", "part left"],
];

longTest.concurrent(
  "exports that are stopped again and again end with complete files",
  patience,
  async ({ expect }) => {
    const undone = mistakes.map(([, control]) => underControl(small(), control));
    const some = [...smallScenarios(scenarios), ...undone];
    const results = await playedWith(null, some);
    expect(faultsOf(results)).toEqual([]);
    expect(results).toHaveLength(some.length);
  },
);

longTest.concurrent.for(mistakes)("%s is detected", patience, async ([, control, kind], { expect }) => {
  const [result] = await playedWith(control, [underControl(small(), control)]);
  expect(result!.faults.map((fault) => fault.kind)).toContain(kind);
});

const smallScenarios = (count: number): Scenario[] =>
  firstScenarios(
    count,
    exportSoak,
    (scenario) => scenario.photos.length <= 8 && scenario.troubles.length === 2,
  );

const small = (): Scenario => smallScenarios(1)[0]!;

const playedWith = (control: Control | null, some: readonly Scenario[]) =>
  played(exportSoak, some, [...smallLimits, ...(control === null ? [] : [controls[control]].flat())]);
