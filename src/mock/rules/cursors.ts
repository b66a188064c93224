import { createHmac } from "node:crypto";
import { Refusal } from "./refusal.ts";

/** Enough of a MAC that no made-up or altered cursor passes. */
const macLength = 16;

/** The place a list was read up to, as a text that means something to the mock alone (Endpoints: opaque, keyset-based). */
export class Cursors {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `list` names the list it belongs to: organization, operation and filters. */
  make(list: string, position: number): string {
    return Buffer.from(`${position}.${this.#mac(list, position)}`).toString("base64url");
  }

  /** The position behind a cursor; null where none is given. One of another list, or made up, is 400 `invalid_cursor`. */
  read(list: string, cursor: string | undefined): number | null {
    if (cursor === undefined) return null;
    const [, position, mac] =
      /^(\d{1,15})\.([\w-]+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
    if (position === undefined || mac !== this.#mac(list, Number(position))) {
      throw new Refusal("invalid_cursor", "the cursor is not one that this list gave", { param: "cursor" });
    }
    return Number(position);
  }

  #mac(list: string, position: number): string {
    return createHmac("sha256", this.#secret)
      .update(`${list}\n${position}`)
      .digest("base64url")
      .slice(0, macLength);
  }
}

/**
 * One page of a list, in the envelope of every list. `items` begins after the cursor and is read one further than the page,
 * to know whether there is more; `position` is what the next cursor goes by.
 */
export function pageOf<Item, Shown>(
  items: Iterable<Item>,
  limit: number,
  show: (item: Item) => Shown,
  cursorAfter: (last: Item) => string,
): { data: Shown[]; next_cursor: string | null; has_more: boolean } {
  const data: Shown[] = [];
  let last: Item | undefined;
  for (const item of items) {
    if (data.length === limit) return { data, next_cursor: cursorAfter(last as Item), has_more: true };
    data.push(show(item));
    last = item;
  }
  return { data, next_cursor: null, has_more: false };
}
