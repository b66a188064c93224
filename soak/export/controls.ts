import { neverSync, trustGateway } from "../common-controls.ts";
import type { Patch } from "../program-files.ts";

/** Programs that report success for incomplete files, to prove that the harness detects it. */
export const controls = {
  /** A download has its name before its length is checked. */
  "rename-first": {
    file: "src/flows/files/part-file.ts",
    from: "this.#part = join(dirname(options.path), partName(basename(options.path)));",
    to: "this.#part = options.path;",
  },
  /** A mirror believes every list. */
  "believe-lists": {
    file: "src/flows/export/sync/compare-and-fetch.ts",
    from: "const isDoubtful = rejected !== null || missing > 0 || (isFullRead && deletes);",
    to: "const isDoubtful = rejected !== null;",
  },
  /** A list may remove most of a mirror. */
  "remove-most": {
    file: "src/flows/export/sync/remove-vanished.ts",
    from: "if (lost <= (maxDelete ?? Math.max(0, usual))) return null;",
    to: "return null;",
  },
  /** Changes are read from too late a time, as after a wrong `Date`: two rules each prevent that one. */
  "late-mark": {
    file: "src/flows/export/sync/compare-and-fetch.ts",
    from: "Date.parse(state.mark!) - marginMs",
    to: "Date.parse(state.mark!) + 600_000",
  },
  /** Images of a mirror get their names before they are on the disk. */
  "never-sync": neverSync,
  /** They get their names before their record. */
  "name-first": {
    file: "src/flows/files/sync-batches.ts",
    from: "if (placed.length > 0) record?.(placed.map(([, at]) => at));",
    to: "if (placed.length < 0) record?.(placed.map(([, at]) => at));",
  },
  /** The next run does not read that record. */
  "forget-record": {
    file: "src/flows/export/sync/mirror.ts",
    from: "for (const entry of index.unconfirmed()) {",
    to: "for (const entry of index.unconfirmed().slice(0, 0)) {",
  },
  /** It believes the record, and does not look at the files. */
  "believe-record": [
    {
      file: "src/flows/export/sync/mirror.ts",
      from: "const isHeld = (await store.findFile(entry)) !== null;",
      to: "const isHeld = true;",
    },
    {
      file: "src/flows/export/sync/mirror.ts",
      from: "if (entry.damaged !== true && !mayBelongTo(entry, await store.stat(entry.path))) index.drop(entry);",
      to: "",
    },
  ],
  /** It leaves the files that have no name, and so does its end. */
  "keep-unnamed": [
    {
      file: "src/flows/export/sync/local-folder.ts",
      from: 'if (name.startsWith("put-")) await rm(join(parts, name), { force: true });',
      to: "",
    },
    {
      file: "src/flows/export/sync/sync.ts",
      from: "if (counts.failed === 0) await clearScratch(store.scratch);",
      to: "",
    },
  ],
  /** A gateway's page counts as a response of the service. */
  "trust-gateway": trustGateway,
} as const satisfies Record<string, Patch | readonly Patch[]>;
export type Control = keyof typeof controls;

/**
 * Jobs of few products, parts written in few bytes, batches of few files, a short margin: small catalogues then have all that
 * large ones have. Most of the images are as small as those of a batch.
 */
export const smallLimits: readonly Patch[] = [
  { file: "src/contract/limits.ts", from: "exportProducts: 500,", to: "exportProducts: 7," },
  {
    file: "src/flows/files/part-file.ts",
    from: "defaultBatchBytes = 1024 * 1024;",
    to: "defaultBatchBytes = 8 * 1024;",
  },
  {
    file: "src/flows/files/part-file.ts",
    from: "mostInMemory = 4 * 1024 * 1024;",
    to: "mostInMemory = 20 * 1024;",
  },
  { file: "src/flows/files/sync-batches.ts", from: "files: 64,", to: "files: 5," },
  // A delta would list all that a run has created.
  {
    file: "src/flows/export/sync/compare-and-fetch.ts",
    from: "const marginMs = 5 * 60_000;",
    to: "const marginMs = 1_000;",
  },
];
