/** Shorter than the time limit of a test, so that a wait in vain is reported with its condition. */
const patienceMs = 50_000;

/**
 * Resolves once the condition holds, however busy the machine is. It is checked at each turn of the event loop, because
 * the clock of a test can jump at the next; for other processes, `pauseMs` leaves them the core. Rejects after 50 s
 * with `seen`.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { pauseMs = 0, seen = () => "" }: { pauseMs?: number; seen?: () => unknown } = {},
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    // Without a turn for the microtask queue: what holds now need not hold then.
    const found = holds();
    if (found === true || (found !== false && (await found))) return;
    if (performance.now() > end) throw new Error(`waited in vain until ${holds} ${seen()}`);
    await new Promise((resolve) => (pauseMs === 0 ? setImmediate(resolve) : setTimeout(resolve, pauseMs)));
  }
}
