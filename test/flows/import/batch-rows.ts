import { afterAll, beforeAll } from "vitest";
import { limits } from "../../../src/contract/limits.ts";

/** For the tests of one file: so many rows per batch, so that few rows make many batches. */
export function batchesOf(rows: number): void {
  const { importRows } = limits;
  const { max } = importRows;
  const setMax = (value: number) => void Object.assign(importRows, { max: value });
  beforeAll(() => setMax(rows));
  afterAll(() => setMax(max));
}
