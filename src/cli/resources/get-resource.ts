import type { Command } from "commander";
import type { AnyOperation, Input, Reply } from "../../client/call-types.ts";
import { fieldTree } from "../../contract/response-values.ts";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import {
  type RawPrintFlags,
  type ResourceForm,
  readPrintFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { resourceId } from "../flags/resource-id.ts";
import type { Printing } from "../output/printing.ts";

/** Describes a `get` command: its operation, and how it prints the resource. */
export interface ResourceGet<O extends AnyOperation> {
  /** The resource, e.g. `task`. */
  readonly noun: string;
  readonly summary: string;
  readonly description: string;
  readonly operation: O;
  input(id: string): Input<O>;
  /** The columns of CSV and of lists. */
  readonly columns: ResourceForm<Reply<O>>["columns"];
  /** Called with the resource once it is printed. */
  onSeen?(app: App, resource: Reply<O>): Promise<void>;
  readonly examples: Parameters<typeof examples>[0];
}

/** `get ID` with the flags of all commands that print resources; not found exits with 5. */
export const getResource =
  <O extends AnyOperation>(get: ResourceGet<O>) =>
  (app: App): Command => {
    const { noun, operation, columns } = get;
    return withPrintFlags(
      command("get")
        .summary(get.summary)
        .usage("ID [flags]")
        .description(get.description)
        .argument("<ID>", `ID of the ${noun}`),
    )
      .addHelpText("after", examples(get.examples))
      .action(async (id: string, flags: RawPrintFlags) =>
        printResource(app, get, {
          printing: readPrintFlags(flags, {
            columns,
            fields: fieldTree(operation.reply),
          } as ResourceForm<object>),
          id: resourceId(id, noun),
        }),
      );
  };

async function printResource<O extends AnyOperation>(
  app: App,
  { operation, input, onSeen }: ResourceGet<O>,
  { id, printing }: { id: string; printing: Printing<object> },
): Promise<void> {
  const client = await app.client();
  const { body } = await client.exchange(operation, input(id), { signal: app.context.interrupt });
  await app.io.resource(body as object, printing);
  await onSeen?.(app, body);
}
