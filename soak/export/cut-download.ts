import type { ExportTrouble, Scenario } from "./scenario.ts";

/** The first process is killed while it has half of an artifact. */
const cutDownload: ExportTrouble = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, timeout: null },
  kill: { step: "downloading", nth: 1, at: "half answered", waitMs: 400 },
};

/** The same scenario, after a download that was cut off. */
export const afterCutDownload = (scenario: Scenario): Scenario => ({
  ...scenario,
  troubles: [cutDownload, ...scenario.troubles],
});

/** The same scenario with no other trouble. */
export const onlyCutDownload = (scenario: Scenario): Scenario => ({ ...scenario, troubles: [cutDownload] });
