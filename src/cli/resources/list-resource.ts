import type { Command, Option } from "commander";
import type { AnyOperation, Input, Item } from "../../client/request.ts";
import type { ClientOperation } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import { grouped } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import type { Kind } from "../completion/words.ts";
import { type CommandTexts, command } from "../flags/command.ts";
import { type RawListFlags, readLimit, readPrintFlags, withListFlags } from "../flags/print-flags.ts";
import type { Column, Printing } from "../output/table.ts";
import { entryFields, namedFields } from "./forms.ts";

/** Describes a list command: its operation, and how it prints the entries. */
export interface ResourceList<O extends AnyOperation, Flags extends object> extends CommandTexts {
  /** The name of the command (default: `list`). */
  readonly name?: string;
  readonly operation: ClientOperation<O>;
  /** The ID of the resource that the entries belong to, if the path has one. */
  readonly of?: { readonly about: string; input(text: string): Partial<Input<O>> };
  readonly columns: readonly Column<Item<O>>[];
  /** The query parameters of flags whose value must be looked up, such as a product by its reference. */
  readonly lookUp?: (flags: Flags) => Promise<Partial<Input<O>>>;
  /** Which entries a filter keeps that the service does not have; null without that filter. */
  readonly keeps?: (flags: Flags) => Promise<((entry: Item<O>) => boolean) | null>;
  /** Flags that filter the list: each sets, or implies, the query parameter of its name. */
  readonly filters?: readonly Option[];
  /** The name of an entry that Tab completes later, with a description, and the kind of these names. */
  readonly completes?: { readonly kind: Kind; name(entry: Item<O>): Name };
  /** Fields that this program adds to the entries of the resource with that ID. */
  readonly added?: {
    readonly fields: readonly string[];
    to(id: string): Promise<(entry: Item<O>) => Item<O>>;
  };
  readonly beforeTable?: Printing<Item<O>>["beforeTable"];
  /** Prints the list in another way and returns true, if the flags ask for it. */
  readonly printedAs?: (flags: RawListFlags & Flags) => Promise<boolean>;
  /** The note for an empty list. */
  none(flags: Flags): string;
}

type Name = readonly [name: string, about: string];

/** The number of names to keep: more candidates are no help. */
const mostNames = 500;

/** A list command with `--limit`, `--all`, `--format`, `--fields` and the filters. */
export function listResource<O extends AnyOperation, Flags extends object>(
  app: App,
  list: ResourceList<O, Flags>,
): Command {
  const { name = "list", operation, of, columns, filters = [], beforeTable } = list;
  const subcommand = command(name, { ...(of !== undefined && { usage: "ID [flags]" }), ...list });
  if (of !== undefined) subcommand.argument("<ID>", of.about);
  for (const filter of filters) subcommand.addOption(filter);
  return withListFlags(subcommand).action(async () => {
    const flags = subcommand.opts<RawListFlags & Flags>();
    if ((await list.printedAs?.(flags)) === true) return;
    const own = entryFields(operation);
    const fields = { ...own, fields: { ...namedFields(list.added?.fields ?? []).fields, ...own.fields } };
    const printing = readPrintFlags<Item<O>>(flags, { columns, fields });
    const limit = readLimit(flags);
    // Fetching one entry more than the limit shows whether the list has more, mostly without another request.
    const keeps = (await list.keeps?.(flags)) ?? null;
    const page = keeps === null ? Math.min((limit ?? Infinity) + 1, limits.page.max) : limits.page.max;
    const parent = of?.input(subcommand.args[0]!);
    const lookedUp = await list.lookUp?.(flags);
    const complete = await list.added?.to(subcommand.args[0]!);
    const client = await app.client();
    // The client sends only the parameters of the operation and ignores the other flags.
    const input = { ...parent, ...flags, ...lookedUp, limit: page } as Input<O> & { limit: number };
    // Without a limit every page is needed: each is requested while the one before is printed.
    const options = { signal: app.context.interrupt, isAhead: limit === null };
    const pages = client.pages(operation, input, options);
    const entries = new FirstOnes(keeps === null ? pages : filtered(pages, keeps), limit);
    // Scripts do not press Tab, and must not wait for the state to open.
    const completes = app.context.stdout.isTTY && !app.globals.mock ? list.completes : undefined;
    const names: Name[] = [];
    async function* noted() {
      for await (const page of entries) {
        if (completes !== undefined)
          names.push(...page.slice(0, mostNames - names.length).map((entry) => completes.name(entry)));
        yield complete === undefined ? page : page.map((entry) => complete(entry));
      }
    }
    const count = await app.io.showPages({ ...printing, beforeTable }, noted());
    if (completes !== undefined)
      await (await import("../completion/kept-names.ts")).keepNames(app, completes.kind, names);
    if (count === 0) await app.io.note(list.none(flags));
    else if (entries.isMore)
      await app.io.note(`Showing the first ${grouped(count)}. To see more, add --limit N or --all.`);
  });
}

async function* filtered<Row>(pages: AsyncIterable<readonly Row[]>, keeps: (row: Row) => boolean) {
  for await (const page of pages) yield page.filter(keeps);
}

/** Pages of one row: the state is not read further than the limit. */
export async function* singly<Row>(rows: Iterable<Row>): AsyncGenerator<readonly Row[]> {
  for (const row of rows) yield [row];
}

/** The first rows of a list, up to a limit, and whether the list has more. */
export class FirstOnes<Row> implements AsyncIterable<readonly Row[]> {
  readonly #pages: AsyncIterable<readonly Row[]>;
  readonly #limit: number;
  /** Whether the list has more rows; known once the first ones were read. */
  isMore = false;

  /** A `limit` of null reads all rows. */
  constructor(pages: AsyncIterable<readonly Row[]>, limit: number | null) {
    this.#pages = pages;
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Row[], void, undefined> {
    let remaining = this.#limit;
    for await (const page of this.#pages) {
      this.isMore = page.length > remaining;
      yield this.isMore ? page.slice(0, remaining) : page;
      if (this.isMore) return;
      remaining -= page.length;
    }
  }
}
