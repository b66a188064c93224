import { productsKind, type SelectionKind } from "../../flows/export/selection/columns.ts";
import { readSelection, selectionForm } from "../../flows/export/selection/read-selection.ts";
import type { Selection } from "../../flows/export/selection/selection.ts";
import type { ColumnMap, Mapping } from "../../flows/rows/mapped-columns.ts";
import { InputError } from "../../flows/rows/source.ts";
import { counted, shownName } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { problemList, problemsForPeople } from "../output/problem-list.ts";
import { loadMapFiles } from "./map-files.ts";
import { openTable } from "./open-table.ts";
import type { ProductsFileFlags } from "./products-file-flags.ts";
import { readMapping } from "./read-mapping.ts";

/** Products or photos in a file. Throws InputError (exit 3) after its problems; `left`: not done then. */
export async function readProductsFile(
  app: App,
  file: string,
  { sheet, delimiter, encoding, ...flags }: ProductsFileFlags,
  { kind = productsKind, noun, left }: { kind?: SelectionKind; noun: string; left: string },
): Promise<Selection> {
  const { words } = kind;
  const mapFiles = await loadMapFiles(app, { ...flags, file }, words);
  const forms = (map: ColumnMap) => [selectionForm({ ...flags, map }, kind)] as const;
  const source = await openTable(app, { file, sheet }, { job: { noun }, flags, mapFiles, forms });
  try {
    const read = { delimiter, encoding };
    const form = (mapping: Mapping) => selectionForm(mapping, kind);
    const mapping = await readMapping(app, { file, source, read, flags, mapFiles, form, words });
    const { selection, problems, notes } = await readSelection(source, { ...read, ...mapping }, kind);
    if (problems.length === 0) {
      await problemsForPeople(file, app, { listsAll: "--json" }).end({ notes });
      return selection;
    }
    const list = problemList(app, file, { listsAll: "--json", always: true });
    for (const problem of problems) await list.add(problem);
    const [valid, invalid] = [selection.wanted.length, problems.length];
    await list.end({ total: valid + invalid, valid, invalid, unusable: false, notes });
    throw new InputError(
      `${shownName(file)} has ${counted(invalid, "problem")}; ${left}`,
      problems[0]!.code,
      "Fix the file and run the command again.",
    );
  } finally {
    await source.close();
  }
}
