import { limits } from "../contract/limits.ts";
import { BadAnswerError } from "../http/errors.ts";

/** One page of any list (List envelope). */
export interface Page<Entry> {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/**
 * All entries of a list, page by page; `isAhead` requests each page while the entries of the one before are used.
 * `path` names the list in errors. Throws a BadAnswerError if a cursor is missing or repeats: stopping silently would
 * lose entries, continuing would never end.
 */
export async function* paginate<Entry>(
  path: string,
  input: { readonly limit?: unknown; readonly cursor?: unknown },
  readPage: (paging: { limit: unknown; cursor?: string }) => Promise<Page<Entry>>,
  isAhead = false,
): AsyncGenerator<Entry, void, undefined> {
  const limit = input.limit ?? limits.page.max;
  const seen = new Set<unknown>([input.cursor]);
  let page = await readPage({ limit });
  for (;;) {
    const { data, has_more, next_cursor: cursor } = page;
    const hasNext = has_more && cursor !== null && !seen.has(cursor);
    const next = isAhead && hasNext ? readPage({ limit, cursor }) : null;
    // A failure is reported after the entries that came before it.
    next?.catch(() => {});
    yield* data;
    if (!has_more) return;
    if (!hasNext) {
      const what = cursor === null ? "the cursor is missing" : "the cursor repeats an earlier one";
      throw new BadAnswerError(`GET ${path} reports more entries, but ${what}`, {
        code: "bad_cursor",
      });
    }
    seen.add(cursor);
    page = await (next ?? readPage({ limit, cursor }));
  }
}
