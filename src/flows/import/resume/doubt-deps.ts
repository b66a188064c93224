import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { ImportInput } from "../import-input.ts";
import type { DoubtDeps } from "./doubtful-calls.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** What deciding about doubtful calls needs, from what an import has at hand. */
export const doubtDeps = (run: RunAtHand, input: ImportInput, deps: TakeUpDeps): DoubtDeps => ({
  run,
  clock: deps.clock,
  client: deps.client,
  concurrency: input.concurrency,
  signal: deps.signal,
  onProgress: (done, total) => deps.onProgress({ step: "looking up products", done, total }),
  choice: deps.unknown,
  ask: deps.ask,
});
