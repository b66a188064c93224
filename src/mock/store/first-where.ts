/**
 * The first of the indexes from `from` to below `length` that `isPast` says yes to, `length` where it is none: it says no up
 * to some place, and yes from there on. Asked as often as the logarithm of their number.
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
