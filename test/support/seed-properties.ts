import fc from "fast-check";

// One seed for every property, so that two runs of the tests say the same. FAST_CHECK_SEED=random looks where nobody
// has looked yet; a number repeats what such a run found.
const { FAST_CHECK_SEED: asked = "20261122" } = process.env;
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
