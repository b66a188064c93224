import type { GenerateTrouble, Scenario } from "./scenario.ts";

const calm: Omit<GenerateTrouble, "kill"> = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, credits: null, timeout: null },
};

/** The first process is killed after the service has queued its first batch, before the response arrives. */
const lostResponse: GenerateTrouble = {
  ...calm,
  kill: { step: "queuing", nth: 1, at: "done", waitMs: 0 },
};

/** The same scenario, after a response that was lost. */
export const afterLostResponse = (scenario: Scenario): Scenario => ({
  ...scenario,
  troubles: [lostResponse, ...scenario.troubles],
});

/** The same scenario with no other trouble. */
export const onlyLostResponse = (scenario: Scenario): Scenario => ({ ...scenario, troubles: [lostResponse] });
