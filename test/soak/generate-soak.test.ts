import { type Control, controls } from "../../soak/generate/controls.ts";
import { generateSoak } from "../../soak/generate/generate-soak.ts";
import { focuses, type Scenario, scenarioOf } from "../../soak/generate/scenario.ts";
import { underControl } from "../../soak/generate/under-control.ts";
import { longTest } from "../support/long-test.ts";
import { quickProgram } from "../support/quick-program.ts";
import { faultsOf, firstScenarios, patience, played } from "./soak-tests.ts";

/** A short part of `npm run soak:generate`: real processes that are stopped, and a real service with faults. */
const scenarios = 6;

const mistakes: readonly [mistake: string, control: Control, kind: string][] = [
  ["a new key for a batch whose response was lost", "new-key", "queued twice"],
  ["a gateway's page that counts as a rejection", "trust-gateway", "not resumable"],
  ["a key that is sent after the machine slept", "old-key", "queued twice"],
  ["a search for tasks by a clock that is ahead", "believe-date", "queued twice"],
  ["an image that two reviews reject and both generate again", "forget-replaced", "queued twice"],
  ["a look of another run that is not known", "forget-looks", "queued twice"],
  ["a request of another run that counts as not sent", "drop-unanswered", "queued twice"],
  ["an image that does not count because it replaces a rejected one", "forget-replacement", "queued twice"],
];
longTest.concurrent(
  "runs that are stopped again and again queue each image once",
  patience,
  async ({ expect }) => {
    const undone = mistakes.map(([, control]) => underControl(small(), control));
    const focused = focuses.map((only) => scenarioOf("test", only));
    const some = [...smallScenarios(scenarios), ...undone, ...focused];
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
    generateSoak,
    (scenario) => scenario.looks.length <= 20 && scenario.troubles.length === 2 && !scenario.waitsLater,
  );

const small = (): Scenario => smallScenarios(1)[0]!;

const playedWith = (control: Control | null, some: readonly Scenario[]) =>
  played(generateSoak, some, [...quickProgram, ...(control === null ? [] : [controls[control]].flat())]);
