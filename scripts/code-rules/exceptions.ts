import type { Exceptions } from "./ratchet.ts";

/** What may break a rule for good, and why. What is only not fixed yet is in offenders.json. */
export const exceptions: readonly Exceptions[] = [
  {
    rule: "sharedNames",
    names: ["Client", "createClient"],
    reason:
      "library.ts exports the client to users of the package, under the names that its documentation has",
  },
  {
    rule: "lines",
    names: [
      "src/mock-page/app/control.tsx Account",
      "src/mock-page/app/control.tsx ControlTab",
      "src/mock-page/app/fault-form.tsx FaultForm",
      "src/mock-page/app/main.tsx Page",
      "src/mock-page/app/part-form.tsx PartForm",
      "src/mock-page/app/products.tsx ProductDialog",
      "src/mock-page/app/products.tsx ProductsTab",
      "src/mock-page/app/requests.tsx RequestList",
      "src/mock-page/app/requests.tsx RequestsTab",
      "src/mock-page/app/requests.tsx Row",
    ],
    reason:
      "a component of the page: most of its lines are the markup that it shows, in the order of the screen",
  },
  {
    rule: "lines",
    names: [
      "src/state/batches.ts storedBatches",
      "src/state/changes.ts storedChanges",
      "src/state/ledger.ts storedLedger",
      "src/state/run-list.ts storedRunList",
    ],
    reason:
      "the prepared statements of one table and the short methods that run them, which share nothing else",
  },
];
