import { type Clock, MovableClock } from "../../clock.ts";
import type { Mock } from "../../mock/index.ts";

/**
 * The service of `--mock`: in this process, for this call only, with 24 demo products and no rate limit. The seed is
 * fixed, so that an id seen in one call is there in the next; the speed keeps a demo brisk.
 */
export async function startPrivateMock(clock: Clock): Promise<Mock> {
  const { startMock } = await import("../../mock/index.ts");
  return startMock({
    demo: 24,
    seed: 1,
    speed: 20,
    rateLimit: false,
    // One clock for both, or a wait of ours would not be one of the service's.
    ...(clock instanceof MovableClock ? { clock } : {}),
  });
}
