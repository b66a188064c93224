// @ts-check
// Runs tests on one mutation after another, in one vitest that keeps the transformed modules. Started by mutations.ts, which
// ends it with its workers where a mutation never ends.
import { fileURLToPath } from "node:url";
import { BaseSequencer, createVitest } from "vitest/node";

/**
 * @typedef {{ tests: string[], texts: { [path: string]: string }, bail: boolean }} Order
 * @typedef {{ failed: string[], tests: { test: string, ms: number, hits: string[] }[] }} Outcome
 */

const root = fileURLToPath(new URL("../../", import.meta.url));
/** @type {Order["texts"]} */
let texts = {};

/** Runs the tests in the order in which they were given. */
class AsGiven extends BaseSequencer {
  /** @override @param {import("vitest/node").TestSpecification[]} files */
  async sort(files) {
    return files;
  }
}

const vitest = await createVitest(
  "test",
  {
    root,
    config: false,
    watch: false,
    include: ["test/**/*.test.ts"],
    env: { TEST_LENGTH: "short", AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    setupFiles: ["test/support/seed-properties.ts", "scripts/mutations/hits.js"],
    provide: { buildProblem: "" },
    reporters: [{}],
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
    sequence: { sequencer: AsGiven },
  },
  { plugins: [{ name: "mutation", enforce: "pre", load: (id) => texts[id] ?? null }] },
);
await vitest.standalone();
const project = vitest.getRootProject();

/** @param {Order} order @returns {Promise<Outcome>} */
async function run(order) {
  const changed = [...Object.keys(texts), ...Object.keys(order.texts)];
  texts = order.texts;
  for (const path of changed) vitest.invalidateFile(path);
  project.config.bail = order.bail ? 1 : 0;
  // The failures of an earlier mutation would end this run.
  vitest.state.idMap.clear();
  vitest.state.filesMap.clear();
  const specifications = order.tests.map((test) => project.createSpecification(`${root}${test}`));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const nameOf = (/** @type {{ moduleId: string }} */ { moduleId }) => moduleId.slice(root.length);
  const failed = testModules.filter((module) => module.state() === "failed");
  const failures = failed.map((module) => {
    const [test] = [...module.children.allTests("failed")];
    return `${nameOf(module)}: ${test?.fullName ?? module.errors()[0]?.message ?? "?"}`;
  });
  return {
    failed: [...failures, ...unhandledErrors.map((error) => String(/** @type {Error} */ (error).message))],
    tests: testModules.map((module) => ({
      test: nameOf(module),
      ms: module.diagnostic().duration,
      hits: /** @type {{ hits?: string[] }} */ (module.meta()).hits ?? [],
    })),
  };
}

process.on("message", async (/** @type {Order} */ order) => process.send?.(await run(order)));
process.send?.("ready");
