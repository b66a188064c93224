import type { Control } from "./controls.ts";
import { asleep, type GenerateTrouble, type Scenario, scenarioOf, undisturbed } from "./scenario.ts";

/** The one trouble that the fault of a control needs. */
const troubles: Readonly<Record<Control, GenerateTrouble>> = {
  /** Killed after the service has queued the first batch, before the response arrives. */
  "new-key": { ...undisturbed, kill: { step: "queuing", nth: 1, at: "done", waitMs: 0 } },
  /** A gateway passes the first batch on, and responds to all of its attempts. */
  "trust-gateway": {
    ...undisturbed,
    gateway: { step: "queuing", status: 400, passesOn: true, times: 10_000 },
  },
  "old-key": asleep,
  /** The service's clock is ahead until the first batch was sent. */
  "believe-date": { ...asleep, skew: { aheadMs: 600_000, from: 0, to: 10_000 } },
  "no-hold": { ...undisturbed, twice: "in turn" },
  "forget-replaced": undisturbed,
};

/** The same scenario with that trouble alone; a night needs a file of one batch. */
export const underControl = (scenario: Scenario, control: Control): Scenario => ({
  ...(troubles[control].sleep ? scenarioOf(scenario.seed, "sleep") : scenario),
  waitsLater: false,
  reruns: control === "forget-replaced",
  troubles: [troubles[control]],
});
