import { oldKey, trustGateway } from "../common-controls.ts";
import type { Patch } from "../program-files.ts";

/** Programs that pay twice, to prove that the harness detects it. The program itself has no switch for them. */
export const controls = {
  /** A batch of unknown outcome is sent again with a new key. */
  "new-key": {
    file: "src/flows/run/journal.ts",
    from: "if (isKeyAlive(batch, now)) yield ready;",
    to: "if (isKeyAlive(batch, now)) yield { ...ready, idempotencyKey: run.newKey() };",
  },
  /** A gateway's page counts as a response of the service. */
  "trust-gateway": trustGateway,
  /** A key is sent however old it is. */
  "old-key": oldKey,
  /** The service's clock alone is believed: while it is ahead, tasks are searched for from too late on. */
  "believe-date": {
    file: "src/flows/generate/unknown-outcome.ts",
    from: "([sentAt, sentAtService] as const)",
    to: "([sentAtService, sentAtService] as const)",
  },
  /** A run that has ended is begun again. */
  "no-hold": {
    file: "src/flows/run/run.ts",
    from: "const finished = isRead || once ? ended : null;",
    to: "const finished = null as StoredRun | null;",
  },
  /** Nobody knows which rejected image another one replaces. */
  "forget-replaced": {
    file: "src/flows/generate/columns/generation-form.ts",
    from: "...(replaces !== undefined && { replaces })",
    to: "...{ replaces: undefined }",
  },
} as const satisfies Record<string, Patch>;
export type Control = keyof typeof controls;
