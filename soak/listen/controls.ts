import type { Patch } from "../program-files.ts";

/** Faults that are added on purpose, and must be found. */
export const controls = {
  /** Responds before the event is on disk. */
  "respond-first": [
    {
      file: "src/flows/listen/log/group-commit.ts",
      from: "done: (error) => (error === null ? resolve() : reject(error)),",
      to: "done: () => {},",
    },
    {
      file: "src/flows/listen/log/group-commit.ts",
      from: "this.#writing ??= this.#write();",
      to: "resolve(); void reject; this.#writing ??= new Promise((r) => setTimeout(r, 300)).then(() => this.#write());",
    },
  ],
  /** Does not read the log when it starts. */
  forget: [
    {
      file: "src/flows/listen/log/event-log.ts",
      from: "if (!file.isNew) for await",
      to: "if (file.isNew) for await",
    },
  ],
} as const satisfies Record<string, readonly Patch[]>;

export type Control = keyof typeof controls;
