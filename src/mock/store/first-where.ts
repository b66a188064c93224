/**
 * Binary search: the first index in [`from`, `length`) for which `isPast` is true, or `length`. `isPast`
 * must be false up to some index and true from there on.
 */
export function firstWhere(length: number, isPast: (index: number) => boolean, from = 0): number {
  let low = from;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
