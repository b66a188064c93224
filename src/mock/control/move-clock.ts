import { lastMoment, type MovableClock } from "../../clock.ts";
import type { World } from "../world/world.ts";

/** How long, in real milliseconds, a move waits in all for others: enough for one handler that hangs through the whole schedule. */
const patienceMs = 90_000;

/**
 * Moves the clock forward and waits for what became due outside: attempts of deliveries and images of imports. It stops at
 * every moment at which something is due, so that of several retries within one move each has its own time. Deliveries that were
 * under way when it began are not waited for: the move may come from the handler of one of them, which would wait for itself.
 */
export async function moveClock(world: World, ms: number): Promise<void> {
  const { clock, underway, network } = world;
  const after = underway.lastMark;
  const latest = network.time.now() + patienceMs;
  for (let left = ms; ; ) {
    const due = clock.nextDue();
    // By how much, not until when: a clock that ticks goes on meanwhile.
    const step = due === null ? left : Math.min(left, Math.max(0, due - clock.now()));
    advance(clock, step);
    left -= step;
    const isIdle = await underway.idle({ after, time: network.time, latest });
    if (!isIdle) advance(clock, left);
    if (!isIdle || left <= 0) return;
  }
}

/** As far as a clock goes, as one that ticks may have ticked beyond that meanwhile. */
const advance = (clock: MovableClock, ms: number): void =>
  clock.advance(Math.min(ms, Math.max(0, lastMoment - clock.now())));
