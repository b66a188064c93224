import type { Exceptions } from "./ratchet.ts";

/** What may break a rule for good, and why. What is only not fixed yet is in offenders.json. */
export const exceptions: readonly Exceptions[] = [
  {
    rule: "sharedNames",
    names: ["Client", "createClient"],
    reason:
      "library.ts exports the client to users of the package, under the names that its documentation has",
  },
];
