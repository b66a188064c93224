import { expect } from "vitest";
import { type Control, mistakes } from "../../soak/year/controls.ts";
import { olderCommit, programOf, todaysProgram } from "../../soak/year/programs.ts";
import { type Trouble, troubleKinds, troubleOf } from "../../soak/year/troubles.ts";
import { playYear } from "../../soak/year/year.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { patience } from "./soak-tests.ts";

/** A short part of `npm run soak:year`. */
const size = { seed: "test", products: 12 };

const calm: Trouble = { kind: "skewed clock", aheadMs: 0 };

longTest(
  "nights with each trouble twice, and an upgrade between them, end as the model",
  patience,
  async () => {
    needsBuild();
    const random = Random.from("nights of a test");
    const round = () => troubleKinds.map((kind) => troubleOf(kind, random));
    const troubles = [...round(), ...round(), calm];
    const program = await todaysProgram([]);
    try {
      // A clone without history has no earlier version.
      const older = await programOf(olderCommit);
      const year = await playYear({ ...size, nights: troubles.length + 1, older, program, troubles });
      expect(year.faults).toEqual([]);
      expect(year.counts).toMatchObject({ nights_lost_state: 2, nights_expired_key: 2, undos: 1 });
    } finally {
      program.remove();
    }
  },
);

longTest.each<[mistake: string, control: Control]>([
  ["a product that is not deleted", "forget-withdrawn"],
  ["an image that is paid for twice", "double-tryon"],
  ["an event that is acknowledged, and not logged", "drop-event"],
])("%s is detected", patience, async (_, control) => {
  needsBuild();
  const { patches, found, troubles = [calm] } = mistakes[control] as (typeof mistakes)["double-tryon"];
  const program = await todaysProgram(patches);
  try {
    const { faults } = await playYear({ ...size, nights: 5, older: null, program, troubles });
    expect(faults.map(({ what }) => what)).toContainEqual(expect.stringMatching(found));
  } finally {
    program.remove();
  }
});
