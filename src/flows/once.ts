/** Returns the value on the first call, and undefined from then on. */
export function once<Value>(value: Value | undefined): () => Value | undefined {
  let left = value;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
}

/** Drops repeated notes: a plan that is made again finds the same things. */
export function unrepeated(note: (sentence: string) => void): (sentence: string) => void {
  const noted = new Set<string>();
  return (sentence) => {
    if (!noted.has(sentence)) note(sentence);
    noted.add(sentence);
  };
}
