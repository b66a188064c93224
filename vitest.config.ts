import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { memoryFolder } from "./test/support/memory-folder.ts";

const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => join("test", path).replaceAll("\\", "/"));
const withText = (text: RegExp) => tests.filter((path) => text.test(readFileSync(path, "utf8")));
// A module mocked by such a file would stay mocked for later files.
const mocking = withText(/\bvi\.mock\(/);
/** The files that do more in `npm run test:long`. */
const longer = withText(/support\/(?:long-test|repetitions)\.ts"/);

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
    testTimeout: timeout,
    hookTimeout: timeout,
    // The default of one second is short for a busy machine.
    expect: { poll: { timeout: 50_000 } },
    // Properties have one seed, so what fails twice is wrong; what fails once in CI is reported as retried.
    retry: process.env.CI === undefined ? 0 : 1,
  };
  return {
    test: {
      // One more than there are cores, as tests wait for the programs and browsers that they start.
      maxWorkers: availableParallelism() + 1,
      // Builds the program for tests that start it.
      globalSetup: ["test/support/build.ts"],
      projects: [
        // Loading the modules once per worker, not once per file, halves the time of small files.
        {
          test: {
            ...common,
            name: "shared",
            isolate: false,
            include: mode === "long" ? longer : ["test/**/*.test.ts"],
            exclude: mocking,
          },
        },
        {
          test: {
            ...common,
            name: "mocking",
            include: mode === "long" ? longer.filter((path) => mocking.includes(path)) : mocking,
          },
        },
      ],
    },
  };
});
