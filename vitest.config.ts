import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { defineConfig } from "vitest/config";
import { importersOf } from "./test/support/importers.ts";
import { memoryFolder } from "./test/support/memory-folder.ts";

const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => join("test", path));
const tests = files.filter((path) => path.endsWith(".test.ts"));
// A module mocked by such a file would stay mocked for later files.
const mocking = tests.filter((path) => /\bvi\.mock\(/.test(readFileSync(path, "utf8")));
const isLonger = importersOf([normalize("test/support/repetitions.ts"), "fast-check"], files);
// Loading the files whose tests are all long would take as long as a hundred tests.
const isShort = (path: string) => {
  const text = readFileSync(path, "utf8");
  return !text.includes("longTest") || /^\s*test[.(]/m.test(text);
};
/** The files that do more in `npm run test:long`. */
const longer = tests.filter((path) => isLonger.has(path));
/** Paths as vitest's patterns, which have slashes on Windows too. */
const patterns = (paths: readonly string[]) => paths.map((path) => path.replaceAll("\\", "/"));

/** `--mode long` (npm run test:long) repeats properties and loops as test/support/repetitions.ts defines, on the disk. */
export default defineConfig(({ mode }) => {
  // Only a test that hangs is ended by it; one that waits in vain fails after 50 s (test/support/until.ts).
  const timeout = mode === "long" ? 1_800_000 : 300_000;
  const common = {
    env: {
      ...(mode === "long"
        ? { TEST_LENGTH: "long", TMPDIR: tmpdir() }
        : { TEST_LENGTH: "short", TMPDIR: memoryFolder() }),
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    },
    setupFiles: ["test/support/seed-properties.ts"],
    // Each test makes a mock and a state of its own: a larger nursery saves 5 % of the time. The threads of a collector
    // take the processors of the other workers.
    execArgv: ["--max-semi-space-size=32", "--single-threaded-gc"],
    testTimeout: timeout,
    hookTimeout: timeout,
    // The default of one second is short for a busy machine.
    expect: { poll: { timeout: 50_000 } },
    // Properties have one seed, so what fails twice is wrong; what fails once in CI is reported as retried.
    retry: process.env.CI === undefined ? 0 : 1,
  };
  return {
    test: {
      // Long tests wait for the programs and browsers that they start; for the others, one more worker costs 15 % of the time.
      maxWorkers: availableParallelism() + (mode === "long" ? 1 : 0),
      // Builds the program for tests that start it.
      globalSetup: ["test/support/build.ts"],
      projects: [
        // Loading the modules once per worker, not once per file, halves the time of small files.
        {
          test: {
            ...common,
            name: "shared",
            isolate: false,
            include: patterns(mode === "long" ? longer : tests.filter(isShort)),
            exclude: patterns(mocking),
          },
        },
        {
          test: {
            ...common,
            name: "mocking",
            include: patterns(mode === "long" ? mocking.filter((path) => isLonger.has(path)) : mocking),
          },
        },
      ],
    },
  };
});
