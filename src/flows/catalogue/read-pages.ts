import type { Client } from "../../client/client.ts";
import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { ExportRow } from "../../contract/resources/exports.ts";
import { CatError } from "../../errors.ts";

/** The rows to read. */
export interface LiveSelection {
  /** Asset roles; null for all. */
  readonly roles: readonly string[] | null;
  /** Only products changed at or after this time, in Unix milliseconds; null for all (Exports, `since`). */
  readonly since: number | null;
}

/** A page of rows. */
export interface ExportPage {
  readonly rows: readonly ExportRow[];
  /** Reads the page again, for new URLs: its rows may have changed meanwhile. */
  readonly again: () => Promise<readonly ExportRow[]>;
}

type Page = Awaited<ReturnType<Client["exports"]["list"]>>;

/**
 * The rows of the catalogue, newest first, in pages of 100. The next page is requested while the caller works on one.
 * A page that fails is requested again with its cursor, for minutes (`Client.poll`), so no row comes twice. Throws a
 * CatError if the cursor is missing, repeats or is rejected.
 */
export async function* readPages(
  { roles, since }: LiveSelection,
  { client, signal }: { client: Pick<Client, "poll">; signal: AbortSignal },
): AsyncGenerator<ExportPage, void, undefined> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const selection = {
    limit: limits.page.max,
    ...(roles === null ? {} : { role: roles.join(",") }),
    ...(since === null ? {} : { since: new Date(since).toISOString() }),
  };
  const read = (cursor: string | undefined, signal: AbortSignal): Promise<Page> => {
    const input = cursor === undefined ? selection : { ...selection, cursor };
    const page = client.poll(operations.exports.list, input, { done: () => true, signal });
    // It is awaited only after the page before it was written.
    page.catch(() => {});
    return page;
  };
  const seen = new Set<string>();
  let cursor: string | undefined;
  try {
    let next: Promise<Page> | null = read(undefined, either);
    while (next !== null) {
      const page: Page = await next.catch((error: unknown) => {
        throw seen.size > 0 && isCursorRejected(error) ? cursorRejected(error) : error;
      });
      const here = cursor;
      cursor = page.has_more ? newCursor(page.next_cursor, seen) : undefined;
      next = cursor === undefined ? null : read(cursor, either);
      // Also after the last page.
      yield { rows: page.data, again: async () => (await read(here, signal)).data };
    }
  } finally {
    stop.abort();
  }
}

/** The cursor of the next page. A list without one would lose rows, and one that repeats would never end. */
function newCursor(cursor: string | null, seen: Set<string>): string {
  if (cursor !== null && !seen.has(cursor)) {
    seen.add(cursor);
    return cursor;
  }
  const what = cursor === null ? "the cursor is missing" : "the cursor repeats an earlier one";
  throw new CatError(`GET ${operations.exports.list.path} reports more entries, but ${what}`, {
    type: "bad_response",
    code: "bad_cursor",
    hint: "Run the command again. If it fails again, report this message to the service.",
  });
}

const isCursorRejected = (error: unknown): error is CatError =>
  error instanceof CatError &&
  error.status === 400 &&
  (error.code === "invalid_cursor" || error.param === "cursor");

/** The cursor came from the service, so the input is not to blame: exit 7. */
const cursorRejected = (cause: CatError): CatError =>
  new CatError("the service no longer accepts the cursor of the next page", {
    type: "bad_response",
    code: "cursor_rejected",
    hint: "Run the command again; it reads all pages from the start.",
    requestId: cause.requestId,
    cause,
  });
