import { createHmac } from "node:crypto";
import { Rejection } from "./rejection.ts";

/** Length of the MAC: enough to reject forged or altered cursors. */
const macLength = 16;

/** The pages of lists, and cursors to them: opaque, keyset-based (Endpoints). */
export class Cursors {
  constructor(private readonly secret: string) {}

  /**
   * One page of a list, in the list envelope. `list` identifies the list: organization, operation and
   * filters. `items` gives those after a position, or all for null. One item past the page is read, to find
   * out whether there are more. 400 `invalid_cursor` for a cursor that is forged or of another list.
   */
  page<Item, Shown>(
    list: string,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
    items: (after: number | null) => Iterable<Item>,
    toPosition: (item: Item) => number,
    show: (item: Item) => Shown,
  ): { data: Shown[]; next_cursor: string | null; has_more: boolean } {
    const data: Shown[] = [];
    let last = 0;
    for (const item of items(this.#read(list, cursor))) {
      if (data.length === limit) return { data, next_cursor: this.#make(list, last), has_more: true };
      data.push(show(item));
      last = toPosition(item);
    }
    return { data, next_cursor: null, has_more: false };
  }

  #make(list: string, position: number): string {
    const mac = createHmac("sha256", this.secret).update(`${list}\n${position}`).digest("base64url");
    return Buffer.from(`${position}.${mac.slice(0, macLength)}`).toString("base64url");
  }

  #read(list: string, cursor: string | undefined): number | null {
    if (cursor === undefined) return null;
    const position = Number.parseInt(Buffer.from(cursor, "base64url").toString(), 10);
    if (cursor !== this.#make(list, position)) {
      throw new Rejection("invalid_cursor", "the cursor does not belong to this list", { param: "cursor" });
    }
    return position;
  }
}
