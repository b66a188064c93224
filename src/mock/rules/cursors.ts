import { createHmac } from "node:crypto";
import { Refusal } from "./refusal.ts";

/** Length of the MAC: enough to reject forged or altered cursors. */
const macLength = 16;

/** Creates and reads cursors, opaque positions in a list (Endpoints: opaque, keyset-based). */
export class Cursors {
  constructor(private readonly secret: string) {}

  /** `list` identifies the list: organization, operation and filters. */
  make(list: string, position: number): string {
    const mac = createHmac("sha256", this.secret).update(`${list}\n${position}`).digest("base64url");
    return Buffer.from(`${position}.${mac.slice(0, macLength)}`).toString("base64url");
  }

  /** The position of a cursor, or null; 400 `invalid_cursor` if it is forged or of another list. */
  read(list: string, cursor: string | undefined): number | null {
    if (cursor === undefined) return null;
    const position = Number.parseInt(Buffer.from(cursor, "base64url").toString(), 10);
    if (cursor !== this.make(list, position)) {
      throw new Refusal("invalid_cursor", "the cursor does not belong to this list", { param: "cursor" });
    }
    return position;
  }
}

/**
 * One page of a list, in the list envelope. `items` starts after the cursor. One item past the page is read,
 * to find out whether there are more. `cursorAfter` makes the next cursor.
 */
export function toPage<Item, Shown>(
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
