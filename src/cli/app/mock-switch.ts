import { type Clock, MovableClock } from "../../clock.ts";
import type { Mock } from "../../mock/index.ts";

/**
 * Starts the mock service of `--mock`: in this process, for this command only, with 24 demo products and no
 * rate limit. The seed is fixed, so that the next command finds the IDs that this one prints; the speed keeps
 * a demo short.
 */
export async function startPrivateMock(clock: Clock): Promise<Mock> {
  const { startMock } = await import("../../mock/index.ts");
  return startMock({
    demo: 24,
    seed: 1,
    speed: 20,
    rateLimit: false,
    // One clock for both, so that time also passes in the mock while the CLI waits.
    ...(clock instanceof MovableClock ? { clock } : {}),
  });
}
