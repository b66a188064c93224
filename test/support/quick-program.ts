import type { Patch } from "../../soak/program-files.ts";

/** Changes to a program that waits less: most of a run with a sped-up service would be waiting. */
export const quickProgram: readonly Patch[] = [
  { file: "src/contract/limits.ts", from: "jobPollSeconds: 5,", to: "jobPollSeconds: 0.3," },
  {
    file: "src/http/retry.ts",
    from: "backoff: { baseMs: 500, capMs: 20_000 },",
    to: "backoff: { baseMs: 50, capMs: 2_000 },",
  },
];
