/** Something wrong with a run, in a sentence. */
export interface Fault<Kind extends string = string> {
  readonly kind: Kind;
  readonly what: string;
}

/** The result of one run. */
export interface Played<Step extends string = string, Kind extends string = string> {
  readonly seed: string;
  /** The step at which each process was stopped, and whether it had resumed an earlier process's run. */
  readonly kills: readonly { readonly step: Step; readonly resumed: boolean }[];
  /** Numbers to add up over all runs, by name. */
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly Fault<Kind>[];
}
