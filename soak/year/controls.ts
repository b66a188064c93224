import { controls as ofGenerations } from "../generate/controls.ts";
import { controls as ofImports } from "../import/controls.ts";
import type { Patch } from "../program-files.ts";
import type { Trouble } from "./troubles.ts";

/** A mistake of the program, what finds it, and the troubles that it needs. */
export interface Mistake {
  readonly patches: readonly Patch[];
  readonly found: RegExp;
  readonly troubles?: readonly Trouble[];
}

/** Programs with mistakes, to prove that a year finds them. The program itself has no switch for them. */
export const mistakes = {
  /** One of the withdrawn products is forgotten. */
  "forget-withdrawn": {
    patches: [
      {
        file: "src/cli/commands/remove-from-file.ts",
        from: "return { entries: [...entries.values()], problems",
        to: "return { entries: [...entries.values()].slice(1), problems",
      },
    ],
    found: /^products: too many/,
  },
  /** A row's edits are those against the service: names of others are overwritten. */
  "forget-before": { patches: [ofImports["forget-before"]], found: /^products: / },
  "keep-replaced": { patches: [ofImports["keep-replaced"]], found: /^products: / },
  /** A request without a response is sent again with another key. */
  "double-tryon": {
    patches: [ofGenerations["new-key"]],
    found: /^images: too many/,
    troubles: [
      {
        kind: "5xx",
        faults: [{ match: { method: "POST", path: "/v1/tasks/tryon" }, drop: "after", times: 20 }],
      },
    ],
  },
  /** Removed images stay in the mirrors. */
  "keep-removed": {
    patches: [
      {
        file: "src/flows/export/sync/remove-vanished.ts",
        from: "if (isOwn) await store.remove(entry.path);",
        to: "",
      },
    ],
    found: /^(mirror|bucket): no line of the index has/,
  },
  /** A mirror of approved images has rejected ones. */
  "mirror-rejected": {
    patches: [
      {
        file: "src/flows/export/reviews.ts",
        from: 'if (decision === "reject") return "rejected";',
        to: "",
      },
    ],
    found: /^mirror: the catalogue has no image/,
  },
  /** One in ten events is acknowledged, and not logged. */
  "drop-event": {
    patches: [
      {
        file: "src/flows/listen/event-log.ts",
        from: "    await this.#commit.add(line);\n    this.#remember(line);",
        to: "    if (this.#known.size % 10 !== 9) await this.#commit.add(line);\n    this.#remember(line);",
      },
    ],
    found: /^(polled )?events: missing/,
  },
  /** An undo does not know how the products were before. */
  "forget-undo": {
    patches: [
      {
        file: "src/state/changes.ts",
        from: "read.run(account, runId, toKey(productId), toKey(reference), before, nothing);",
        to: "read.run(account, runId, toKey(productId), toKey(reference), null, nothing);",
      },
    ],
    found: /imports undo last .* exited with 8|^products: /,
  },
} satisfies Record<string, Mistake>;
export type Control = keyof typeof mistakes;

/** The changes of each control. */
export const controls: Readonly<Record<string, readonly Patch[]>> = Object.fromEntries(
  Object.entries(mistakes).map(([name, { patches }]) => [name, patches]),
);
