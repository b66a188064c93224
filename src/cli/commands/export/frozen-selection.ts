import { readSelection, type SelectionReading } from "../../../flows/export/selection/read-selection.ts";
import type { Selection } from "../../../flows/export/selection/selection.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { InputError, openSource } from "../../../flows/rows/source.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { problemReport, problemsForPeople } from "../../output/problem-list.ts";

/** Reads the file of `--products-from`. Throws InputError (exit 3) after its problems were listed. */
export async function readProductsFrom(
  app: App,
  file: string,
  { delimiter, encoding }: SelectionReading,
): Promise<Selection> {
  const { cwd, stdin, interrupt } = app.context;
  if (file === "-" && stdin.isTTY)
    await app.io.note("Reading products from the terminal; end them with Ctrl-D.");
  const source = await openSource(file, { job: { noun: "export" }, cwd, stdin, signal: interrupt });
  try {
    const { selection, problems } = await readSelection(source, { delimiter, encoding });
    if (problems.length === 0) return selection;
    const list = app.io.json
      ? problemReport(file, (text) => app.io.data(text), true)
      : problemsForPeople(file, app, { listsAll: "--json" });
    for (const problem of problems) await list.add(problem);
    const [valid, invalid] = [selection.wanted.length, problems.length];
    await list.end({ total: valid + invalid, valid, invalid, unusable: false });
    throw new InputError(
      `${shownName(file)} has ${counted(invalid, "problem")}; nothing was exported`,
      problems[0]!.code,
      "Fix the problems listed above and run the command again.",
    );
  } finally {
    await source.close();
  }
}
