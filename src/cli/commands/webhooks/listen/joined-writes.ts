/**
 * Joins texts that are written in one turn of the event loop into one write: events that go to the log together are
 * printed together. Each call resolves or rejects with its write. Of the functions that are called right before a write,
 * the last one is.
 */
export function joinedWrites(
  write: (text: string) => Promise<void>,
): (text: string, before?: () => void) => Promise<void> {
  let waiting: { text: string; before: (() => void) | undefined; readonly written: Promise<void> } | null =
    null;
  return (text, before) => {
    if (waiting !== null) {
      waiting.text += text;
      waiting.before = before ?? waiting.before;
      return waiting.written;
    }
    // After the promises that are settled now: they may add more.
    const written = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      const group = waiting!;
      waiting = null;
      group.before?.();
      return write(group.text);
    });
    waiting = { text, before, written };
    return written;
  };
}
