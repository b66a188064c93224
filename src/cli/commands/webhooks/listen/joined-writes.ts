/**
 * Joins texts that are written in one turn of the event loop into one write: events that go to the log together are
 * printed together. Each call resolves or rejects with its write.
 */
export function joinedWrites(write: (text: string) => Promise<void>): (text: string) => Promise<void> {
  let waiting: { text: string; readonly written: Promise<void> } | null = null;
  return (text) => {
    if (waiting !== null) {
      waiting.text += text;
      return waiting.written;
    }
    // After the promises that are settled now: they may add more.
    const written = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      const group = waiting!;
      waiting = null;
      return write(group.text);
    });
    waiting = { text, written };
    return written;
  };
}
