import { lastMoment, type MovableClock } from "../../clock.ts";
import type { World } from "../world/world.ts";

/** Longest real wait of one move: enough for a handler that hangs through the complete schedule. */
const patienceMs = 90_000;

/**
 * Moves the clock forward and waits for the outgoing requests that become due: deliveries and images of
 * imports. The clock stops at every moment at which something is due, so that several retries within one move
 * each have their own time. Deliveries already in flight are not awaited: the handler of one may have
 * requested the move, and would wait for itself.
 */
export async function moveClock(world: World, ms: number): Promise<void> {
  const { clock, workInProgress, network } = world;
  const after = workInProgress.lastMark;
  const latest = network.time.now() + patienceMs;
  for (let remaining = ms; ; ) {
    const due = clock.nextDue();
    // A duration, not a moment, because a ticking clock moves on meanwhile.
    const step = due === null ? remaining : Math.min(remaining, Math.max(0, due - clock.now()));
    advance(clock, step);
    remaining -= step;
    const isIdle = await workInProgress.idle({ after, time: network.time, latest });
    if (!isIdle) advance(clock, remaining);
    if (!isIdle || remaining <= 0) return;
  }
}

/** Advances at most to the last moment, because a ticking clock may have come close to it meanwhile. */
const advance = (clock: MovableClock, ms: number): void =>
  clock.advance(Math.min(ms, Math.max(0, lastMoment - clock.now())));
