import fc from "fast-check";
import { beforeAll } from "vitest";
import { repetitions } from "./repetitions.ts";
import { forgetRequests } from "./test-clock.ts";

// One seed for all properties, so that runs are repeatable. FAST_CHECK_SEED=random tries other inputs; a
// number repeats the inputs of such a run.
const { FAST_CHECK_SEED: asked = "20261122" } = process.env;
fc.configureGlobal({
  ...(asked === "random" ? {} : { seed: Number(asked) }),
  numRuns: repetitions(25, 1_000),
});

// The files of a worker share its modules.
beforeAll(forgetRequests);
