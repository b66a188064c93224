import { execa } from "execa";
import { expect, test } from "vitest";

/** Beside the other tests, so that a core that waits for one of them has work. */
test.concurrent.each(["types", "lint", "rooms"])("npm run %s finds no mistake", async (script) => {
  const { exitCode, all } = await execa("npm", ["run", "--silent", script], { all: true, reject: false });
  expect(exitCode, all).toBe(0);
});
