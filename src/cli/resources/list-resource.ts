import type { Command, Option } from "commander";
import type { AnyOperation, Input, Item } from "../../client/call-types.ts";
import { limits } from "../../contract/limits.ts";
import { fieldTree } from "../../contract/response-values.ts";
import { grouped } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import type { Kind } from "../completion/words.ts";
import { command, examples } from "../flags/command.ts";
import { type RawListFlags, readLimit, withListFlags } from "../flags/list-flags.ts";
import { readPrintFlags } from "../flags/print-flags.ts";
import type { Column } from "../output/columns.ts";
import { FirstOnes } from "../output/first-ones.ts";
import type { Printing } from "../output/printing.ts";

/** Describes a list command: its operation, and how it prints the entries. */
export interface ResourceList<O extends AnyOperation, Flags extends object> {
  /** The name of the command (default: `list`). */
  readonly name?: string;
  readonly summary: string;
  readonly description: string;
  readonly operation: O;
  /** The ID of the resource that the entries belong to, if the path has one. */
  readonly of?: { readonly about: string; input(text: string): Partial<Input<O>> };
  readonly columns: readonly Column<Item<O>>[];
  /** The query parameters of flags whose value must be looked up, such as a product by its reference. */
  readonly lookUp?: (app: App, flags: Flags) => Promise<Partial<Input<O>>>;
  /** Flags that filter the list: each sets, or implies, the query parameter of its name. */
  readonly filters: readonly Option[];
  /** The name of an entry that Tab completes later, with a description, and the kind of these names. */
  readonly completes?: {
    readonly kind: Kind;
    name(entry: Item<O>): readonly [name: string, about: string] | null;
  };
  /** Prints the list in another way and returns true, if the flags ask for it. */
  readonly printedAs?: (app: App, flags: RawListFlags & Flags) => Promise<boolean>;
  /** The note for an empty list. */
  none(flags: Flags): string;
  readonly examples: Parameters<typeof examples>[0];
}

/** A list command with `--limit`, `--all`, `--format`, `--fields` and the filters. */
export const listResource =
  <O extends AnyOperation, Flags extends object>(list: ResourceList<O, Flags>) =>
  (app: App): Command => {
    const made = withListFlags(
      filtered(command(list.name ?? "list"), list)
        .summary(list.summary)
        .description(list.description),
    ).addHelpText("after", examples(list.examples));
    return made.action(async () => {
      const flags = made.opts<RawListFlags & Flags>();
      if ((await list.printedAs?.(app, flags)) === true) return;
      const fields = fieldTree(list.operation.reply).fields!.data!.entries!;
      const printing = readPrintFlags<Item<O>>(flags, { columns: list.columns, fields });
      const of = list.of?.input(made.args[0]!) ?? {};
      // The client sends only the parameters of the operation and ignores the other flags.
      const found = await list.lookUp?.(app, flags);
      await printPages(app, list, { ...of, ...flags, ...found } as Input<O>, {
        ...{ limit: readLimit(flags), printing, none: list.none(flags) },
      });
    });
  };

function filtered<O extends AnyOperation, Flags extends object>(
  one: Command,
  { of, filters }: ResourceList<O, Flags>,
): Command {
  one.usage(of === undefined ? "[flags]" : "ID [flags]");
  if (of !== undefined) one.argument("<ID>", of.about);
  for (const filter of filters) one.addOption(filter);
  return one;
}

/** Prints the entries page by page, with a note if the list is empty or has more entries. */
async function printPages<O extends AnyOperation>(
  app: App,
  { operation, completes }: Pick<ResourceList<O, object>, "operation" | "completes">,
  input: Input<O>,
  { limit, printing, none }: { limit: number | null; printing: Printing<Item<O>>; none: string },
): Promise<void> {
  const client = await app.client();
  // Fetching one entry more than the limit shows whether the list has more, mostly without another request.
  const page = Math.min((limit ?? Number.POSITIVE_INFINITY) + 1, limits.page.max);
  const entries = new FirstOnes(
    // Without a limit every page is needed: each is requested while the one before is printed.
    client.paginate(
      operation,
      { ...input, limit: page },
      { signal: app.context.interrupt, isAhead: limit === null },
    ),
    limit,
  );
  // Scripts do not press Tab, and must not wait for the state to open.
  const names =
    completes !== undefined && app.context.stdout.isTTY && !app.globals.mock ? ([] as Name[]) : null;
  const count = await app.io.show(printing, names === null ? entries : noted(entries, completes!, names));
  if (names !== null) {
    const { keepNames } = await import("../completion/keep-names.ts");
    await keepNames(app, completes!.kind, names);
  }
  if (count === 0) await app.io.note(none);
  else if (entries.isMore) {
    await app.io.note(`Showing the first ${grouped(count)}. To see more, add --limit N or --all.`);
  }
}

/** The entries, whose names are added to `names` as they pass. */
async function* noted<Entry>(
  entries: AsyncIterable<Entry>,
  { name }: { name(entry: Entry): Name | null },
  names: Name[],
): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const one = name(entry);
    if (one !== null && names.length < mostNames) names.push(one);
    yield entry;
  }
}

/** The number of names to keep: more candidates are no help. */
const mostNames = 500;

type Name = readonly [name: string, about: string];
