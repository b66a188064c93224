import type { Command } from "commander";
import type { AnyOperation, Input, Reply } from "../../client/request.ts";
import type { ClientOperation } from "../../contract/client-operations.ts";
import type { App } from "../app/app.ts";
import { type CommandTexts, command } from "../flags/command.ts";
import {
  type RawPrintFlags,
  type ResourceForm,
  readPrintFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { resourceId } from "../flags/values.ts";
import type { Column } from "../output/table.ts";
import { replyFields } from "./forms.ts";

/** A command that shows one resource: its operation, which takes `NOUN_id`, and its form. */
export interface ResourceGet<O extends AnyOperation> extends CommandTexts {
  /** The resource, e.g. `task`. */
  readonly noun: string;
  readonly operation: ClientOperation<O>;
  /** The columns of CSV and of lists. */
  readonly columns: readonly Column<Reply<O>>[];
  /** Called with the resource once it is printed. */
  onSeen?(app: App, resource: Reply<O>): Promise<void>;
}

/** `get ID` with the flags of all commands that print resources; not found exits with 5. */
export const getResource = <O extends AnyOperation>(app: App, get: ResourceGet<O>): Command => {
  const { noun, operation } = get;
  return withPrintFlags(
    command("get", { usage: "ID [flags]", ...get }).argument("<ID>", `ID of the ${noun}`),
  ).action(async (text: string, flags: RawPrintFlags) => {
    const printing = readPrintFlags(flags, replyForm(get));
    const input = idInput(get, resourceId(text, noun));
    const client = await app.client();
    const { body } = await client.exchange(operation, input, { signal: app.context.interrupt });
    await app.io.resource<object>(body as object, printing);
    await get.onSeen?.(app, body);
  });
};

/** The form of what an operation returns; every one that commands use returns an object. */
export const replyForm = <O extends AnyOperation>(get: ResourceGet<O>): ResourceForm<object> =>
  ({ columns: get.columns, fields: replyFields(get.operation) }) as ResourceForm<object>;

/** The input of an operation on one resource, e.g. `{ task_id }`. */
export const idInput = <O extends AnyOperation>(
  { noun }: { readonly noun: string; readonly operation: ClientOperation<O> },
  id: string,
): Input<O> => ({ [`${noun}_id`]: id }) as Input<O>;
