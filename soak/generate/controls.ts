import { neverSync, oldKey, trustGateway } from "../common-controls.ts";
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
  /** Nobody knows which rejected image another one replaces. */
  "forget-replaced": {
    file: "src/flows/generate/columns/generation-form.ts",
    from: "...(replaces !== undefined && { replaces })",
    to: "...{ replaces: undefined }",
  },
  /** No run knows the looks of another one. */
  "forget-looks": {
    file: "src/state/looks.ts",
    from: "of: (account, digest) => ofDigest.all(account, digest).map(toImage),",
    to: "of: () => [],",
  },
  /** A request of another run without a response counts as one that the service has not had. */
  "drop-unanswered": {
    file: "src/flows/generate/other-runs.ts",
    from: "await dropUntouched(theirs, operation, Number.POSITIVE_INFINITY);",
    to: 'for (const batch of state.batches.of(id)) if (batch.state === "sent") state.batches.dropped(id, batch.index);',
  },
  /** The image that replaces a rejected one does not count, whoever has generated it. */
  "forget-replacement": {
    file: "src/state/looks.ts",
    from: '[images("look.digest = ?"), images("look.replaces = ?")]',
    to: '[images("look.digest = ? AND look.replaces IS NULL"), images("look.replaces = ? AND 0")]',
  },
  /** Saved images get their names before they are on the disk. */
  "never-sync": neverSync,
  /** The next command leaves the files that a killed one has not named. */
  "keep-unnamed": {
    file: "src/flows/generate/save-outputs.ts",
    from: "await rm(join(this.#folder, part), { force: true }).catch(() => {});",
    to: "void part;",
  },
} as const satisfies Record<string, Patch>;
export type Control = keyof typeof controls;
