import { oldKey, trustGateway } from "../common-controls.ts";
import type { Patch } from "../program-files.ts";

/** Programs that double photos or lose rows, to prove that the harness detects it. The program itself has no switch for them. */
export const controls = {
  /** A batch of unknown outcome is sent again with a new key. */
  "new-key": {
    file: "src/flows/run/journal.ts",
    from: "if (isKeyAlive(batch, now)) yield ready;",
    to: "if (isKeyAlive(batch, now)) yield { ...ready, idempotencyKey: run.newKey() };",
  },
  /** Attached photos are not recorded. */
  "no-ledger": {
    file: "src/state/ledger.ts",
    from: "get: (account, reference) => toEntryOrNull(get.get(account, toKey(reference))),",
    to: "get: () => null,",
  },
  /** A gateway's page counts as a response of the service. */
  "trust-gateway": trustGateway,
  /** A key is sent however old it is. */
  "old-key": oldKey,
  /** Two processes may import at the same time. */
  "no-hold": {
    file: "src/flows/run/run.ts",
    // The line alone: a plan has the same error.
    from: "\n    throw alreadyRunning(hold.heldBy);",
    to: "\n    runs.begin(run); return { hold: { release() {} }, begun: null, finished, open: run };",
  },
  /** The service's clock alone is believed: after it was ahead, changes are read from too late on. Two rules each prevent that one. */
  "believe-date": [
    {
      file: "src/flows/import/known-products.ts",
      from: "const now = client.serviceNow() === null ? null : client.earliest();",
      to: "const now = client.serviceNow();",
    },
    {
      file: "src/flows/import/known-products.ts",
      from: "const isWrong = !isBelievable(last, client);",
      to: "const isWrong = isBelievable === undefined;",
    },
  ],
} as const satisfies Record<string, Patch | readonly Patch[]>;
export type Control = keyof typeof controls;
