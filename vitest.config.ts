import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // The default leaves a core for a watcher, which on two cores is half of them.
    maxWorkers: "100%",
    include: ["test/**/*.test.ts"],
    // Builds what the tests of the real program start.
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/seed-properties.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
