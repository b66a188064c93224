import { limits } from "../contract/limits.ts";
import { BadResponseError } from "../http/errors.ts";
import { SeenTexts } from "./seen-texts.ts";

/** One page of any list (List envelope). */
export interface Page<Entry> {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/** Pages without an entry that a list may have in a row: a filter can leave none of a few. */
const mostEmptyPages = 20;

/**
 * The entries of a list, page by page, each entry once; `isAhead` requests each page while the entries of the
 * one before are used. `path` names the list in errors. A list has ended when `has_more` is false and
 * `next_cursor` is null. Throws a BadResponseError if they contradict each other, a cursor repeats, all
 * entries of a page were on earlier ones, or `mostEmptyPages` follow each other: stopping silently would lose
 * entries, continuing might never end.
 */
export async function* readPages<Entry>(
  path: string,
  input: { readonly limit?: unknown; readonly cursor?: unknown },
  readPage: (paging: { limit: unknown; cursor?: string }) => Promise<Page<Entry>>,
  isAhead = false,
): AsyncGenerator<readonly Entry[], void, undefined> {
  const limit = input.limit ?? limits.page.max;
  const cursors = new Set<unknown>([input.cursor]);
  const known = new SeenTexts();
  const toKey = keyOf(path);
  let empty = 0;
  let page = await readPage({ limit });
  for (;;) {
    const { data, has_more: hasMore, next_cursor: cursor } = page;
    const fresh = withoutKnown(data, toKey, known);
    if (fresh.length === 0 && data.length > 0) throw faultyList(path, "a page repeats earlier entries");
    empty = data.length === 0 ? empty + 1 : 0;
    const fault = faultOf(page, cursors, empty);
    const next = isAhead && hasMore && fault === null ? readPage({ limit, cursor: cursor! }) : null;
    // A failure is reported after the entries that came before it.
    next?.catch(() => {});
    if (next !== null) await twoTurns();
    yield fresh;
    if (fault !== null) throw faultyList(path, fault);
    if (!hasMore) return;
    cursors.add(cursor);
    page = await (next ?? readPage({ limit, cursor: cursor! }));
  }
}

/** undici reuses a connection two turns of the event loop later: sooner, entries are used before it sends. */
async function twoTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
}

/** Why a list cannot be read on from a page; null if it can, or has ended. */
function faultOf(
  { has_more, next_cursor }: Page<unknown>,
  earlier: ReadonlySet<unknown>,
  empty: number,
): string | null {
  if (has_more && empty === mostEmptyPages) return `${empty} pages in a row are empty`;
  if (!has_more) return next_cursor === null ? null : "has_more is false, but next_cursor has a value";
  if (next_cursor === null) return "has_more is true, but next_cursor is missing";
  return earlier.has(next_cursor) ? "its next_cursor repeats an earlier one" : null;
}

const faultyList = (path: string, fault: string): BadResponseError =>
  new BadResponseError(`the list of GET ${path} contradicts itself: ${fault}`, {
    code: "bad_cursor",
    hint: "Run the command again. If it fails again, report this message to the service.",
  });

/** The text that identifies an entry of the list; null for one of a later version without it. */
function keyOf(path: string): (entry: unknown) => string | null {
  const pick = /\/exports$/.test(path) ? productOf : /\/imports\/[^/]+\/rows$/.test(path) ? lineOf : idOf;
  return (entry) => {
    const key = pick(entry);
    return typeof key === "string" || typeof key === "number" ? String(key) : null;
  };
}

const idOf = (entry: unknown): unknown => (entry as { id?: unknown } | null)?.id;
const productOf = (row: unknown): unknown => idOf((row as { product?: unknown } | null)?.product ?? null);
const lineOf = (row: unknown): unknown => (row as { line?: unknown } | null)?.line;

function withoutKnown<Entry>(
  entries: readonly Entry[],
  toKey: (entry: Entry) => string | null,
  known: SeenTexts,
): readonly Entry[] {
  const fresh = entries.filter((entry) => {
    const key = toKey(entry);
    return key === null || known.add(key, 1) === null;
  });
  return fresh.length === entries.length ? entries : fresh;
}
