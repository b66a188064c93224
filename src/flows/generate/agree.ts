// Agreeing: which of the remaining images are generated, and the user's yes to their cost.

import type { Run } from "../run/run.ts";
import { writeEstimate } from "../run/writes.ts";
import { grouped } from "../words.ts";
import type { Balance } from "./balance.ts";
import type { AskedOfFile, Generation } from "./generation.ts";
import type { GenerateDeps, GenerateInput, SaveFolder } from "./generation-run.ts";
import type { MissingImages } from "./missing.ts";
import { cutGenerations } from "./plan.ts";

/** What the user has agreed to. */
export interface Agreement {
  readonly remaining: readonly Generation[];
  /** What `--missing` has found; null without it. */
  readonly found: MissingImages | null;
  /** The folder that the user has named; null if not asked. */
  readonly folder: SaveFolder | null;
  /** The time that the question was on the screen, in milliseconds. */
  readonly waitedMs: number;
}

/** With `--missing` leaves out what exists, then has the user agree to the rest. Throws where they do not. */
export async function agree(
  planned: readonly Generation[],
  run: Run,
  {
    input,
    table,
    balance,
    queuedBefore,
  }: { input: GenerateInput; table: AskedOfFile["table"]; balance: Balance; queuedBefore: number },
  deps: GenerateDeps,
): Promise<Agreement> {
  const found = input.missing && !run.isFinished ? await findMissing(planned, run, deps) : null;
  const generations = found?.missing ?? planned;
  if (generations.length === 0) return { remaining: [], found, folder: null, waitedMs: 0 };
  const batches = cutGenerations(generations).length;
  noteEstimate(generations.length, batches, deps);
  const askedAt = deps.clock.now();
  const folder = await deps.confirm({ generations, table, batches, queuedBefore, balance: balance.known });
  const waitedMs = deps.clock.now() - askedAt;
  if (found === null) return { remaining: generations, found, folder, waitedMs };
  // Another command may have sent some of them while the question was on the screen.
  const { leaveOutSent } = await import("./missing.ts");
  const left = leaveOutSent(found, run);
  return { remaining: left.missing, found: left, folder, waitedMs };
}

async function findMissing(
  planned: readonly Generation[],
  run: Run,
  { onProgress }: GenerateDeps,
): Promise<MissingImages> {
  const { findMissing } = await import("./missing.ts");
  const total = new Set(planned.map(({ productId }) => productId)).size;
  return findMissing(planned, run, (done) => onProgress({ step: "looking up images", done, total }));
}

/** Notes how long the queuing takes, where the rate limit makes it last. */
function noteEstimate(images: number, requests: number, { writesPerMinute, onNote }: GenerateDeps): void {
  const time = writeEstimate(requests, writesPerMinute);
  if (time !== null) onNote(`${grouped(images)} images in ${grouped(requests)} requests: ${time}`);
}
