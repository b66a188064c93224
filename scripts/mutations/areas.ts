interface Area {
  readonly name: string;
  readonly sources: RegExp;
  /** The tests that read tables of it, which no function does. */
  readonly tables?: RegExp;
}

/** Code in which a mistake costs photos, images or money, or lets in what must stay out. */
export const areas: readonly Area[] = [
  { name: "signature", sources: /^src\/contract\/signature\.ts/ },
  { name: "URL policy", sources: /^src\/contract\/url-policy\.ts/ },
  // What openapi/ writes is a description for readers.
  {
    name: "contract",
    sources: /^src\/contract\/(?!openapi\/)/,
    tables: /^test\/(contract|conformance|rows|mock\/(routes|rules))\//,
  },
  { name: "merge decision", sources: /^src\/flows\/import\/decide/ },
  { name: "sending", sources: /^src\/flows\/run\// },
  { name: "retry", sources: /^src\/http\/retry\.ts/ },
  { name: "pacing", sources: /^src\/http\/(pacing|rate-window)\.ts/ },
  { name: "leases", sources: /^src\/flows\/bucket\/lease\.ts/ },
  { name: "undo", sources: /^src\/flows\/import\/undo\// },
  { name: "delete guard", sources: /^src\/flows\/export\/sync\/remove-vanished\.ts/ },
  { name: "look payment", sources: /^src\/flows\/generate\/(known-looks|find-known)\.ts/ },
];

/** The tests that can notice a mistake in these. */
export const tested = /^test\/(contract|conformance|client|http|state|rows|flows|cli|mock)\/.*\.test\.ts$/;
