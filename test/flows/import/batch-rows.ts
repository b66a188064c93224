import { afterAll, beforeAll, onTestFinished } from "vitest";
import { limits } from "../../../src/contract/limits.ts";

const { importRows } = limits;
const { max } = importRows;
const setMax = (value: number) => void Object.assign(importRows, { max: value });

/** For the tests of one file: so many rows per batch, so that few rows make many batches. */
export function batchesOf(rows: number): void {
  beforeAll(() => setMax(rows));
  afterAll(() => setMax(max));
}

/** The same for one test. */
export function nowBatchesOf(rows: number): void {
  setMax(rows);
  onTestFinished(() => setMax(max));
}
