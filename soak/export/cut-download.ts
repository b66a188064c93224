import type { ExportTrouble, LaterRun, Scenario } from "./scenario.ts";

/** The first process is killed while it has half of an artifact. */
const cutDownload: ExportTrouble = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, timeout: null },
  kill: { step: "downloading", nth: 1, at: "half answered", waitMs: 400 },
};

/** The requests for a job are passed on, and a gateway answers in the service's place. */
const lostInGateway: ExportTrouble = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, timeout: null },
  kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 },
  gateway: { step: "creating jobs", status: 403, passesOn: true, times: 8 },
};

const wrongAnswers: readonly LaterRun[] = [
  { list: "two thirds", aheadMs: 0, delete: true },
  { list: "empty", aheadMs: 0, delete: true },
  { list: null, aheadMs: 600_000, delete: false },
];

/** The same scenario, after a download that was cut off, a gateway's page, and wrong lists and dates. */
export const afterCutDownload = (scenario: Scenario): Scenario => ({
  ...scenario,
  troubles: [lostInGateway, cutDownload, ...scenario.troubles],
  laterRuns: scenario.mode === "sync" ? [...wrongAnswers, ...scenario.laterRuns] : [],
});

/** The same scenario with no other trouble. */
export const onlyCutDownload = (scenario: Scenario): Scenario => ({
  ...scenario,
  troubles: [cutDownload],
  laterRuns: [],
});
