import { limits } from "../contract/limits.ts";
import { BadAnswerError } from "../http/errors.ts";

/** One page as every list answers (List envelope). */
export interface Page<Entry> {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/**
 * Every entry of a list, page after page. `path` names the list in an error. A list whose cursors lead nowhere or in a
 * circle ends in a BadAnswerError: stopping in silence would lose entries, going on would never end.
 */
export async function* paginate<Entry>(
  path: string,
  input: { readonly limit?: unknown; readonly cursor?: unknown },
  readPage: (paging: { limit: unknown; cursor?: string }) => Promise<Page<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  const limit = input.limit ?? limits.page.max;
  const seen = new Set<unknown>([input.cursor]);
  let page = await readPage({ limit });
  for (;;) {
    yield* page.data;
    if (!page.has_more) return;
    const cursor = page.next_cursor;
    if (cursor === null || seen.has(cursor)) {
      const what = cursor === null ? "no cursor to the next page" : "a cursor it had given before";
      throw new BadAnswerError(`GET ${path} says that there is more, but gave ${what}`, {
        code: "bad_cursor",
      });
    }
    seen.add(cursor);
    page = await readPage({ limit, cursor });
  }
}
