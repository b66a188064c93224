import type { Patch } from "../program-files.ts";

/** Programs that report success for incomplete files, to prove that the harness detects it. */
export const controls = {
  /** A download has its name before its length is checked. */
  "rename-first": {
    file: "src/flows/downloads/part-file.ts",
    from: "this.#part = join(dirname(options.path), name);",
    to: "this.#part = options.path; void name;",
  },
} as const satisfies Record<string, Patch>;
export type Control = keyof typeof controls;

/** Jobs of few products, and parts written in few bytes: small catalogues then have all that large ones have. */
export const smallLimits: readonly Patch[] = [
  { file: "src/contract/limits.ts", from: "exportProducts: 500,", to: "exportProducts: 7," },
  {
    file: "src/flows/downloads/part-file.ts",
    from: "defaultBatchBytes = 1024 * 1024;",
    to: "defaultBatchBytes = 8 * 1024;",
  },
  {
    file: "src/flows/downloads/download-to-memory.ts",
    from: "mostInMemory = 4 * 1024 * 1024;",
    to: "mostInMemory = 8 * 1024;",
  },
];
