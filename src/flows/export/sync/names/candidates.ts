import type { NamedEntry, PathOf } from "./template.ts";

/**
 * The paths that an asset may have, the preferred one first: with its asset ID, then with its product ID too, because a
 * photo may belong to several products, then with a number.
 */
export function* candidates(entry: NamedEntry, pathOf: PathOf): Generator<string> {
  const { asset_id, product_id } = entry;
  yield pathOf(entry);
  yield pathOf(entry, `-${asset_id}`);
  for (let number = 1; ; number++) {
    yield pathOf(entry, `-${product_id}-${asset_id}${number === 1 ? "" : `-${number}`}`);
  }
}
