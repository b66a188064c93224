import { type Command, Option } from "commander";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { rowStatuses } from "../../../contract/value-sets.ts";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { type ListFlags, type RawListFlags, readListFlags, withListFlags } from "../../list-flags.ts";
import { FirstOnes } from "../../output/first-ones.ts";
import { grouped } from "../../output/numbers.ts";
import { rowColumns } from "./columns.ts";
import { importId } from "./import-id.ts";

/** What rows are asked for. */
export interface RowsInput extends ListFlags {
  id: string;
  status: ImportRowResult["status"] | undefined;
}

/** `cat imports rows`: parses the argument and the flags; `run` does the work. */
export const rowsCommand = (app: App, run = listRows): Command =>
  withListFlags(
    command("rows")
      .summary("list what became of the rows of an import")
      .usage("ID [flags]")
      .description(
        "List what became of each row of an import, in the order in which they were sent. " +
          "Lines count from 1 in what was sent in this one import, which may be a part of your file; " +
          "with lines of the file: cat import FILE --results FILE.",
      )
      .argument("<ID>", "the import's id")
      .addOption(new Option("--status <STATUS>", "only rows with this status").choices(rowStatuses)),
  )
    .addHelpText(
      "after",
      examples([
        ["the rows that failed, and why", "cat imports rows ID --status failed"],
        ["every row as a spreadsheet", "cat imports rows ID --all --format csv > rows.csv"],
      ]),
    )
    .action(async (id: string, { status, ...flags }: RawListFlags & Pick<RowsInput, "status">) =>
      run(app, { id: importId(id), status, ...readListFlags(flags) }),
    );

/** Prints row results as the service has them, page by page; an import that is not found ends in exit 5. */
export async function listRows(app: App, { id, status, limit, format }: RowsInput): Promise<void> {
  const client = await app.client();
  const { max } = limits.page;
  const rows = client.paginate(
    operations.imports.rows,
    // One more than wanted tells whether there are more, at no further request for most limits.
    { import_id: id, status, limit: limit === null ? max : Math.min(limit + 1, max) },
    { signal: app.context.interrupt },
  );
  const first = new FirstOnes(rows, limit);
  const count = await app.io.show(rowColumns, first, format);
  if (count === 0) await app.io.note(status === undefined ? "There are no rows." : `No row is ${status}.`);
  else if (first.isMore) {
    await app.io.note(`These are the first ${grouped(count)}; --all shows all, --limit N more.`);
  }
}
