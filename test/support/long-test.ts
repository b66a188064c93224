import { type TestAPI, test } from "vitest";
import { isLong } from "./repetitions.ts";

/** A test that only `npm run test:long` runs, because it is slow and a faster test covers the same rule. */
export const longTest: ReturnType<TestAPI["runIf"]> = test.runIf(isLong);
