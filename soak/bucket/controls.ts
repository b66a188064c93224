import type { Patch } from "../program-files.ts";

/** Programs that leave objects which no index has, to prove that the harness detects it. */
export const controls = {
  /** The next run does not look for the images that a killed one has uploaded. */
  "forget-left": {
    file: "src/flows/export/sync/bucket-mirror.ts",
    from: "if (!this.#mayHaveLeft) return null;",
    to: "if (this.#mayHaveLeft) return null;",
  },
  /** No record says that a run has begun to upload. */
  "no-record": {
    file: "src/flows/export/sync/bucket-mirror.ts",
    from: "if ((await this.#bucket.head(key)) === null) await this.#bucket.put(key, toContent(Buffer.alloc(0)));",
    to: "await this.#bucket.head(key);",
  },
} as const satisfies Record<string, Patch>;
