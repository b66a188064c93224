import { type TestAPI, test } from "vitest";
import { isLong } from "./repetitions.ts";

/**
 * A test that only `npm run test:long` runs, because it is slow: most tests that start the built program, a browser, Python or
 * another program are (those of test/bin/program.test.ts are not), and others whose rule a faster test covers.
 */
export const longTest = test.runIf(isLong) as TestAPI;
