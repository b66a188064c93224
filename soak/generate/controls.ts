import type { Patch } from "../program-files.ts";

/** Programs that pay twice, to prove that the harness detects it. The program itself has no switch for them. */
export const controls = {
  /** A batch of unknown outcome is sent again with a new key. */
  "new-key": {
    file: "src/flows/batches/send-again.ts",
    from: "yield { index, rows, lines, bytes, body, idempotencyKey, again: true };",
    to: "yield { index, rows, lines, bytes, body, idempotencyKey: newKey(), again: true };",
  },
} as const satisfies Record<string, Patch>;
export type Control = keyof typeof controls;
