import type { GenerateTrouble, Scenario } from "./scenario.ts";

const calm: Omit<GenerateTrouble, "kill"> = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, credits: null, timeout: null },
};

/** The first process is killed after the service has queued its first batch, before the response arrives. */
const lostResponse: GenerateTrouble = {
  ...calm,
  kill: { step: "queuing", nth: 1, at: "done", waitMs: 0 },
};

/** A gateway passes the first request on and responds in the service's place. */
const gatewayPage: GenerateTrouble = {
  ...calm,
  kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 },
  gateway: { step: "queuing", status: 400, passesOn: true, times: 1 },
};

/** The same scenario, after a response that was lost, and one of a gateway. */
export const afterLostResponse = (scenario: Scenario): Scenario => ({
  ...scenario,
  troubles: [lostResponse, gatewayPage, ...scenario.troubles],
});

/** The same scenario with no other trouble. */
export const onlyLostResponse = (scenario: Scenario): Scenario => ({ ...scenario, troubles: [lostResponse] });
