import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Builds what the tests of the real program start.
    globalSetup: ["test/support/build.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
