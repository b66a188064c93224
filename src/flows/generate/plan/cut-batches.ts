import { limits } from "../../../contract/limits.ts";
import { byPlace, type Generation } from "../generation.ts";

/**
 * Cuts generations into the batches of their requests, in the order in which they are sent. A beautifier request takes one
 * (Tasks). A try-on request takes 20: a consistency group (same model, product and stylings) is never split over two batches
 * when it fits in one; one that is larger fills batches of its own, next to the one with its rest. As few batches as possible.
 */
export function cutGenerations(generations: readonly Generation[]): Generation[][] {
  if (generations[0]?.kind !== "tryon") return generations.map((one) => [one]);
  const { max } = limits.tryonInputs;
  const full = new Map<Item, Generation[][]>();
  const items: Item[] = [];
  for (const group of groupsOf(generations)) {
    const rest = group.length % max;
    const parts: Generation[][] = [];
    for (let at = 0; at + max <= group.length; at += max) parts.push(group.slice(at, at + max));
    if (rest === 0) items.push(...parts);
    else {
      const item = group.slice(-rest);
      items.push(item);
      full.set(item, parts);
    }
  }
  const bins = [bestFit(items, max), fullest(items, max)].reduce((one, other) =>
    other.length < one.length ? other : one,
  );
  const firstOf = (bin: Item[]) => Math.min(...bin.map((item) => item[0]!.line));
  return bins
    .toSorted((one, other) => firstOf(one) - firstOf(other))
    .flatMap((bin) => [...bin.flatMap((item) => full.get(item) ?? []), bin.flat()])
    .map((batch) => batch.toSorted(byPlace));
}

/** A group that goes into one batch, or the rest of a larger one. */
type Item = readonly Generation[];

function groupsOf(generations: readonly Generation[]): Generation[][] {
  const groups = new Map<string, Generation[]>();
  for (const one of generations) {
    const key = groupKey(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** Inputs with the same key are dispatched as a consistency group (Tasks). */
export const groupKey = ({ modelId, productId, stylings }: Generation): string =>
  JSON.stringify([modelId, productId, stylings]);

const sizeOf = (bin: readonly Item[]): number => bin.reduce((sum, item) => sum + item.length, 0);

const largestFirst = (items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => other.length - one.length);

/** Each item, the largest first, goes into the fullest bin that has room for it. */
function bestFit(items: readonly Item[], max: number): Item[][] {
  const open: Item[][][] = Array.from({ length: max + 1 }, () => []);
  const bins: Item[][] = [];
  for (const item of largestFirst(items)) {
    const room = open.findIndex((some, left) => left >= item.length && some.length > 0);
    const bin = room === -1 ? [] : open[room]!.pop()!;
    if (room === -1) bins.push(bin);
    bin.push(item);
    open[max - sizeOf(bin)]!.push(bin);
  }
  return bins;
}

/** Fills one bin after another as much as the items left allow, beginning each with the largest of them. */
function fullest(items: readonly Item[], max: number): Item[][] {
  const bySize: Item[][] = Array.from({ length: max + 1 }, () => []);
  for (const item of items.toReversed()) bySize[item.length]!.push(item);
  const bins: Item[][] = [];
  for (;;) {
    const largest = bySize.findLastIndex((some) => some.length > 0);
    if (largest === -1) return bins;
    const bin = [bySize[largest]!.pop()!];
    for (const size of fillings(bySize, max - largest)) bin.push(bySize[size]!.pop()!);
    bins.push(bin);
  }
}

/** The sizes of items that fill `room` as far as possible, with as few of them as possible. */
function fillings(bySize: readonly (readonly Item[])[], room: number): readonly number[] {
  const best: (readonly number[] | null)[] = Array.from({ length: room + 1 }, (_, filled) =>
    filled === 0 ? [] : null,
  );
  for (let size = room; size >= 1; size--) {
    for (let count = 0; count < Math.min(bySize[size]!.length, Math.floor(room / size)); count++) {
      for (let filled = room; filled >= size; filled--) {
        const before = best[filled - size];
        if (before === null || before === undefined) continue;
        if (best[filled] === null || before.length + 1 < best[filled]!.length)
          best[filled] = [...before, size];
      }
    }
  }
  return best.findLast((sizes) => sizes !== null) ?? [];
}
