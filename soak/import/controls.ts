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
  /** Attached photos are not recorded: rows with new ones are conflicts. */
  "no-ledger": {
    file: "src/state/ledger.ts",
    from: "ofProduct: (account, productId) => toEntryOrNull(ofProduct.get(account, toKey(productId))),",
    to: "ofProduct: () => null,",
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
  /** What a row said before is not looked at: what differs from the service is taken for edited. */
  "forget-before": {
    file: "src/flows/import/import-run.ts",
    from: "said.of(reference, as_exported) ??",
    to: "null ??",
  },
  /** A value that others changed as well is overwritten. */
  "overwrite-theirs": {
    file: "src/flows/import/decide-fields.ts",
    from: 'if (!changedAtService || conflicts === "sheet") return "write";',
    to: 'return "write";',
  },
  /** A batch that waited is sent as it was decided. */
  "send-late": {
    file: "src/flows/run/send.ts",
    from: "lookedAt: (late && fresh?.readAt) ?? Number.POSITIVE_INFINITY,",
    to: "lookedAt: Number.POSITIVE_INFINITY,",
  },
  /** Photos that the ledger does not know are not compared with those of the row. */
  "never-compare": {
    file: "src/flows/import/decide-photos.ts",
    from: "this.#others = row.known.images.filter(",
    to: "this.#others = row.known.images.slice(0, 0).filter(",
  },
  /** The photo of a place stays when the place has another one. */
  "keep-replaced": {
    file: "src/flows/import/decide-photos.ts",
    from: "(isUsed || !known.has(image))",
    to: "(!isUsed || !known.has(image))",
  },
  /** The photo of a place is detached without waiting for the one that replaces it. */
  "detach-first": {
    file: "src/flows/import/decide.ts",
    from: "  if (attach.length > 0) {\n    // An upsert",
    to: "  if (attach.length > 0 && detach.length === 0) {\n    // An upsert",
  },
} as const satisfies Record<string, Patch | readonly Patch[]>;
export type Control = keyof typeof controls;
